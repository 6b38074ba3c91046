// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>

#include "sampler/kernel_room.h"
#include "unit/unwind/fake_unwind_maps.h"

namespace offcpud {

inline constexpr std::uint64_t kPage = 0x1000;

struct KernelRoomTest : testing::Test {
  KernelRoomTest() {
    maps.max_mappings = 1000;  // of which 312 are kept free for one more mapping
    tables.emplace(*TableStore::create(maps));
    room.emplace(
        *tables,
        [this](std::uint32_t tgid) {
          ++asked;
          return users[tgid];
        },
        now);
    spend(KernelRoom::kAtStart);
  }
  void spend(std::chrono::milliseconds cpu) { room->spend(KernelRoom::When::InTurn, cpu); }
  void remove_all() {
    while (*room->remove_some()) continue;
  }
  // Everything that is saved up, so that there is time to spare.
  void earn() {
    now += std::chrono::seconds(1);
    EXPECT_TRUE(room->has_time(now));
  }
  // Puts in mappings of a page each, as the registry does; how many there were.
  std::size_t put(std::uint32_t tgid, std::size_t count) {
    std::size_t done = 0;
    for (std::uint64_t i = 1; i <= count; ++i) {
      if (!room->admits(tgid) || !room->make_room(tgid)) break;
      EXPECT_TRUE(tables->add_mapping(tgid, 2 * i * kPage, 2 * i * kPage + kPage, 0,
                                      OFFCPUD_UNWIND_NO_OBJECT));
      ++done;
    }
    return done;
  }
  std::optional<KernelRoom::Entering> next_entry() {
    return room->has_time(now) ? room->next_waiting() : std::nullopt;
  }
  std::optional<std::uint32_t> next() {
    const auto entering = next_entry();
    return entering ? std::optional(entering->tgid) : std::nullopt;
  }
  // A step of the next one, which has as much left afterwards.
  std::optional<std::uint32_t> step() {
    auto entering = next_entry();
    if (!entering) return std::nullopt;
    entering->from += kPage;
    room->put_rest(*entering);
    return entering->tgid;
  }
  [[nodiscard]] std::size_t held(std::uint32_t tgid) const {
    const auto found = tables->prefixes_by_process().find(tgid);
    return found == tables->prefixes_by_process().end() ? 0 : found->second;
  }

  std::map<std::uint32_t, std::uint32_t> users;
  std::size_t asked = 0;  // for users
  MonotonicTime now{std::chrono::seconds(100)};
  FakeUnwindMaps maps;
  std::optional<TableStore> tables;
  std::optional<KernelRoom> room;
};

}  // namespace offcpud
