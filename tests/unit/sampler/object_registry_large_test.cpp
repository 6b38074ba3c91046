// SPDX-License-Identifier: Apache-2.0
// Processes with thousands of mappings.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "registry_waits.h"

namespace offcpud {
namespace {

// Everybody's stacks wait for the thread that writes the mappings of one process.
struct RegistryOfLargeOnes : RegistryWaits {
  static constexpr std::size_t kMany = 4096;
  static constexpr std::chrono::microseconds kCost{20};
  // What 10 ms are enough for, and a step more.
  static constexpr std::size_t kMostInATurn = std::chrono::milliseconds(10) / kCost + 64;

  void make_slow() {
    maps.put = [] {
      const auto until = thread_cpu_time() + kCost;
      while (thread_cpu_time() < until) continue;
    };
  }
  static std::vector<Mapping> many_of(const std::shared_ptr<const MappedFile>& file) {
    std::vector<Mapping> all;
    for (std::uint64_t i = 0; i < kMany; ++i) all.push_back(mapping(file, kBase + 2 * i * kSize));
    return all;
  }
  // Of the turns until the last mapping has the rule, the most that were written in one.
  std::size_t most_until(std::uint32_t tgid, int rule) {
    std::size_t most = 0;
    for (int turns = 0; turns < 1000 && rule_at(mapped[tgid].back().begin, tgid) != rule; ++turns) {
      const std::size_t before = maps.puts;
      turn();
      most = std::max(most, maps.puts - before);
      if (maps.puts == before) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_TRUE(std::ranges::all_of(
        mapped[tgid], [&](const Mapping& one) { return rule_at(one.begin, tgid) == rule; }));
    return most;
  }
};

TEST_F(RegistryOfLargeOnes, ALargeChildIsPutInByAndBy) {
  make_with();
  mapped[1] = many_of(found_at("/first", 24));
  registry->mapping_added({.tgid = 2, .serial = 1}, mapped[1].front());
  registry->image_began({.tgid = 1, .serial = 1}, mapped[1]);
  make_slow();
  EXPECT_LE(most_until(1, 24), kMostInATurn);
}

// Code that maps thousands of places at once, after exec or by a loop.
TEST_F(RegistryOfLargeOnes, WhatAProcessMapsAtOnceIsPutInByAndBy) {
  make_with();
  start_is_over();
  const auto all = many_of(found_at("/first", 24));
  map(1, all.front());
  turn();
  make_slow();
  for (std::size_t i = 1; i < all.size(); ++i) map(1, all[i]);
  // Half of what is saved up, and 64 entries.
  EXPECT_LE(maps.puts * kCost, KernelRoom::kSaved / 2 + 66 * kCost);
  EXPECT_LE(most_until(1, 24), kMostInATurn);
  EXPECT_EQ(maps.puts, kMany) << "each once";
}

// It takes ten entries of the kernel's map to write one of these.
TEST_F(RegistryOfLargeOnes, OddSizesTakeATenthOfTheTime) {
  make_with();
  const auto file = found_at("/first", 24);
  for (std::uint64_t i = 0; i < kMany; ++i) {
    Mapping odd = mapping(file, kBase + 2 * i * kSize + 0x1000);
    odd.end -= 0x2000;
    mapped[1].push_back(odd);
  }
  registry->image_began({.tgid = 1, .serial = 1}, mapped[1]);
  start_is_over();
  turn();
  make_slow();
  const std::size_t before = maps.puts;
  constexpr std::chrono::milliseconds kStep{10};
  constexpr int kSteps = 50;
  for (int i = 0; i < kSteps; ++i) turn(kStep);
  const std::size_t written = maps.puts - before;
  EXPECT_GT(written, 100U);
  EXPECT_LT(rule_at(mapped[1].back().begin, 1), 0) << "it is not in yet";
  // A tenth of the time, what was saved up, and a mapping beyond it.
  EXPECT_LE(written * kCost,
            kSteps * kStep / 10 + KernelRoom::kSaved + std::chrono::milliseconds(2));
}

// Each of them is small enough to be put in at once.
TEST_F(RegistryOfLargeOnes, ManyChildrenTakeATenthOfTheTime) {
  make_with();
  start_is_over();
  const auto file = found_at("/first", 24);
  registry->mapping_added({.tgid = 9, .serial = 1}, mapping(file));
  auto child = many_of(file);
  child.resize(200);
  make_slow();
  turn();
  constexpr std::chrono::milliseconds kStep{10};
  constexpr std::uint32_t kChildren = 50;
  for (std::uint32_t i = 0; i < kChildren; ++i) {
    const ImageId image{.tgid = 100 + i, .serial = 1};
    registry->image_began(image, child);
    turn(kStep);
    registry->image_ended(image, child);
  }
  EXPECT_GT(maps.puts, 200U);
  // A tenth of the time, what was saved up, and a child beyond it.
  EXPECT_LE((maps.puts + maps.removals) * kCost,
            kChildren * kStep / 10 + KernelRoom::kSaved + std::chrono::milliseconds(5));
}

// The kernel's map has no more of a process than was put in, and may have it twice.
TEST_F(RegistryOfLargeOnes, WhoIsInInPartIsRememberedAsItIs) {
  make_with(kSpent);
  start_is_over();
  map(9, mapping(found_at("/first", 24)));
  const auto late = found_at("/late", 32);
  for (const Mapping& one : many_of(late)) map(1, one);
  ASSERT_EQ(rule_at(kBase, 1), kNoRule);
  ASSERT_EQ(registry->late_pairs(), 1U);
  const ImageId image{.tgid = 1, .serial = 1};
  auto& mine = mapped[1];
  while (mine.size() > 100) {
    registry->mapping_removed(image, mine.back());  // it was not in
    mine.pop_back();
  }
  EXPECT_EQ(registry->late_pairs(), 1U) << "its first mappings lack the table all the same";
  registry->mapping_added(image, mine.front());  // it is in
  for (const Mapping& one : mine) registry->mapping_removed(image, one);
  mine.clear();
  EXPECT_EQ(registry->late_pairs(), 0U);
}

TEST_F(RegistryOfLargeOnes, ALargeProcessIsToldOfALateTableByAndBy) {
  make_with();
  maps.fails = true;
  for (const Mapping& one : many_of(found_at("/late", 32))) map(1, one);
  (void)most_until(1, kNoRule);
  ASSERT_EQ(maps.puts, kMany);
  maps.fails = false;
  make_slow();
  EXPECT_LE(most_until(1, 32), kMostInATurn);
  EXPECT_EQ(maps.puts, 2 * kMany) << "each once more";
}

}  // namespace
}  // namespace offcpud
