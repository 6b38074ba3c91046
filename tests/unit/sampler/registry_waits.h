// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "object_registry_fixture.h"
#include "support/users.h"

namespace offcpud {

using test::kAlice;
using test::kBob;
using test::kCarol;
using Outcome = OpenedFile::Outcome;

// The first table takes all the time that its user has, and some tenths of a second of what he has
// from then on.
inline constexpr CpuShares::Limits kSpent{.at_once = std::chrono::microseconds(1),
                                          .per_second = 0.0001};

// Files by path, of any process that is not said to be gone.
struct PathOpener final : FileOpener {
  OpenedFile open(const FileRequest& request) override {
    ++opened[request.path];
    const auto outcome = outcomes.find(request.tgid);
    OpenedFile file = not_opened(outcome == outcomes.end() ? Outcome::Opened : outcome->second);
    if (file.outcome == Outcome::Opened) file.fd = elf_with(offsets.at(request.path));
    return file;
  }
  RootId root_of(std::uint32_t /*tgid*/) override { return {}; }
  OpenedFile open_root(std::uint32_t tgid) override {
    asked.push_back(tgid);
    const auto outcome = roots.find(tgid);
    OpenedFile root = not_opened(outcome == roots.end() ? Outcome::Opened : outcome->second);
    if (root.outcome == Outcome::Opened) root.fd.reset(::open("/", O_PATH | O_CLOEXEC));
    return root;
  }
  std::map<std::string, std::uint8_t> offsets;
  std::map<std::string, int> opened;
  std::map<std::uint32_t, Outcome> outcomes, roots;  // by process, unless it is opened
  std::vector<std::uint32_t> asked;                  // for their roots
};

struct RegistryWaits : ObjectRegistryTest {
  void make_with(const CpuShares::Limits& cpu = {}) {
    tables.emplace(*TableStore::create(maps));
    symbols.emplace(SymbolWorker::Limits{});
    room.emplace(
        *tables, [this](std::uint32_t tgid) { return users[tgid]; }, MonotonicTime());
    registry.emplace(&*tables, *symbols, opens, nullptr,
                     reporting([this](const Error& error) { failures.push_back(error.message()); }),
                     &*room, cpu);
  }
  // What may be written at once at the start has been.
  void start_is_over() { room->spend(KernelRoom::When::InTurn, KernelRoom::kAtStart); }
  std::shared_ptr<const MappedFile> found_at(const std::string& path, std::uint8_t offset) {
    opens.offsets[path] = offset;
    return found(elf_with(offset), path);
  }
  void map(std::uint32_t tgid, const Mapping& mapping) {
    mapped[tgid].push_back(mapping);
    registry->mapping_added({.tgid = tgid, .serial = 1}, mapping);
  }
  void end(std::uint32_t tgid) {
    registry->image_ended({.tgid = tgid, .serial = 1}, {});
    mapped.erase(tgid);
  }
  // As the sampler does, but faster.
  void turn(std::chrono::milliseconds later = std::chrono::seconds(2)) {
    now += later;
    const auto mappings_of = [this](std::uint32_t tgid) {
      ++looked_at[tgid];
      return std::span<const Mapping>(mapped[tgid]);
    };
    registry->admit_waiting(mappings_of, now);
    registry->offer_again(now);
  }
  bool turn_until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      turn();
    }
    return true;
  }
  PathOpener opens;
  std::optional<KernelRoom> room;
  std::map<std::uint32_t, std::vector<Mapping>> mapped;
  std::map<std::uint32_t, int> looked_at;  // of the mappings of each process
  std::map<std::uint32_t, ShareOwner> users;
  MonotonicTime now{std::chrono::hours(1)};
};

}  // namespace offcpud
