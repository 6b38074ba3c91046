// SPDX-License-Identifier: Apache-2.0
// What the tests of BlockAccounting share: one that accounts the blocks of a FakeStackSource.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reader/process_memory.h"
#include "sampler/block_accounting.h"
#include "support/known_cgroups.h"
#include "unit/sampler/fake_addresses.h"
#include "unit/sampler/fake_stack_source.h"

namespace offcpud::test {

using namespace std::chrono_literals;

// What windows gave; the naming thread adds to it.
struct Outcomes {
  void add(Result<SampledSnapshot> result) {
    const std::lock_guard lock(mutex);
    if (result) {
      snapshots.push_back(std::move(result->snapshot));
    } else {
      errors.push_back(result.error().message());
    }
  }
  std::mutex mutex;
  std::vector<Snapshot> snapshots;
  std::vector<std::string> errors;
};

inline std::chrono::nanoseconds time_in(const Snapshot& snapshot) {
  return std::accumulate(
      snapshot.entries.begin(), snapshot.entries.end(), 0ns,
      [](auto sum, const StackEntry& entry) { return sum + std::chrono::nanoseconds(entry.ns); });
}

inline double episodes_in(const Snapshot& snapshot) {
  return std::accumulate(snapshot.entries.begin(), snapshot.entries.end(), 0.0,
                         [](double sum, const StackEntry& entry) { return sum + entry.episodes; });
}

inline std::vector<std::chrono::nanoseconds> times(const std::vector<Snapshot>& snapshots) {
  std::vector<std::chrono::nanoseconds> found;
  std::ranges::transform(snapshots, std::back_inserter(found), time_in);
  return found;
}

inline double seconds_of(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

inline BlockFilter only_pid(std::uint32_t pid) {
  BlockFilter filter;
  filter.pid = pid;
  return filter;
}

inline const auto kSelf = static_cast<std::uint32_t>(::getpid());
inline constexpr std::uint32_t kOtherProcess = 1;  // a process that exists

// As a rule of wait sites names them.
inline constexpr const char* kAllReasons =
    "disk | lock | condvar | network | pipe | poll | sleep | child | kernel | stopped | other";

class BlockAccountingTest : public testing::Test {
 protected:
  void start() {
    accounting_.emplace(AccountingParts{.kernel = kernel_,
                                        .addresses = addresses_,
                                        .sleepers = sleepers_,
                                        .holders = holders_,
                                        .naming = naming_,
                                        .jit = nullptr,
                                        .python = python_,
                                        .gils = nullptr,
                                        .cgroups = cgroups_.directory(),
                                        .clock = clock_},
                        options_, reports_);
  }

  // Lets so much time pass, with the ticks that belong into it.
  void run(std::chrono::milliseconds time) {
    for (const MonotonicTime end = clock_.now() + time; clock_.now() < end;) {
      const std::chrono::nanoseconds left = end - clock_.now();
      clock_.advance(std::min<std::chrono::nanoseconds>(left, accounting_->tick_interval()));
      accounting_->tick();
    }
  }

  void profile(std::chrono::milliseconds length, const BlockFilter& filter) {
    accounting_->take_next(length, filter, [this](Result<SampledSnapshot> result) {
      profiles_.add(std::move(result));
    });
  }

  // That of the blocks of FakeStackSource::sample().
  [[nodiscard]] std::chrono::nanoseconds interval_of_samples() const {
    return kernel_.choice->intervals.of[stratum_of(BlockRecord(1).of(1).sample)];
  }

  // Until everything that ended has its names.
  void settle() { naming_.finish(10s); }

  [[nodiscard]] SamplerReports told() {
    SamplerReports reports;
    reports.finished = [this](Result<SampledSnapshot> result) {
      snapshots_.add(std::move(result));
    };
    reports.sampled = [](std::uint32_t /*user_end*/) {};
    reports.located_early = [this] { ++located_early_; };
    reports.adapted = [this](std::chrono::nanoseconds interval) { adapted_.push_back(interval); };
    reports.warned = [this](std::string_view topic, const std::string& /*sentence*/) {
      warned_.emplace_back(topic);
    };
    return reports;
  }

  FakeClock clock_;
  FakeStackSource kernel_{clock_};
  FakeAddresses addresses_;
  DirectProcessMemory memory_;
  SleeperStacks sleepers_{nullptr, memory_};
  HolderFinder holders_{memory_};
  PythonStacks* python_ = nullptr;
  KnownCgroups cgroups_{{cgroup_of(kSelf), "self"}, {cgroup_of(kOtherProcess), "other"}};
  Outcomes snapshots_, profiles_;
  std::vector<std::chrono::nanoseconds> adapted_;
  std::vector<std::string> warned_;
  int located_early_ = 0;
  SamplerOptions options_{.interval = 10s};
  SamplerReports reports_ = told();
  SymbolWorker symbols_{{}};
  std::shared_ptr<SiteRulesBoard> sites_ = std::make_shared<SiteRulesBoard>(*SiteRules::make({}));
  NamingQueue naming_{symbols_,
                      std::make_shared<RuntimeNames>(
                          RuntimeNames{.perf_maps = PerfMaps(nullptr, {}), .vdso = {}, .jit = {}}),
                      sites_, clock_};
  std::optional<BlockAccounting> accounting_;
};

}  // namespace offcpud::test
