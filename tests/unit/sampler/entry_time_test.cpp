// SPDX-License-Identifier: Apache-2.0
// Programs that have the kernel's map of mappings written all the time: it takes a tenth of the
// thread's time, whichever way they do it.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "registry_waits.h"

namespace offcpud {
namespace {

struct EntryTime : RegistryWaits {
  static constexpr std::chrono::microseconds kCost{5};
  static constexpr std::chrono::milliseconds kStep{10};
  static constexpr int kSteps = 30;

  void prepare(const CpuShares::Limits& cpu = {}) {
    make_with(cpu);
    start_is_over();
    // Known already, so that its table takes no time.
    file = found_at("/first", 24);
    registry->mapping_added({.tgid = 9, .serial = 1}, mapping(file));
    maps.put = [] {
      const auto until = thread_cpu_time() + kCost;
      while (thread_cpu_time() < until) continue;
    };
    turn();
    before = entries();
  }
  // Almost 256 GiB from an odd page to another one: 50 entries.
  [[nodiscard]] Mapping huge(std::uint64_t i, std::uint64_t odd = 0x1000) const {
    return {.begin = (i << 38) + odd, .end = ((i + 1) << 38) - 0x1000, .offset = 0, .file = file};
  }
  [[nodiscard]] std::vector<Mapping> many(std::uint64_t count) const {
    std::vector<Mapping> all;
    for (std::uint64_t i = 1; i <= count; ++i) all.push_back(huge(i));
    return all;
  }
  [[nodiscard]] std::size_t entries() const { return maps.puts + maps.removals; }
  void expect_a_tenth() const {
    const auto spent = (entries() - before) * kCost;
    EXPECT_LE(spent, kSteps * kStep / 10 + KernelRoom::kSaved + std::chrono::milliseconds(5));
  }
  void begin(std::uint32_t tgid, const std::vector<Mapping>& inherited) {
    registry->image_began({.tgid = tgid, .serial = 1}, inherited);
    mapped[tgid] = inherited;
  }
  void replace(std::uint32_t tgid, const Mapping& by) {
    registry->mapping_removed({.tgid = tgid, .serial = 1}, mapped[tgid].back());
    mapped[tgid].pop_back();
    map(tgid, by);
  }
  // Whether Bob's child gets in during this.
  template <class Attack>
  void expect_that_bob_gets_in(const Attack& attack) {
    constexpr std::uint32_t kBobs = 20;
    users[kBobs] = kBob;
    std::vector<Mapping> child;
    for (std::uint64_t i = 0; i < 600; ++i) child.push_back(mapping(file, kBase + 2 * i * kSize));
    for (int step = 0; step < kSteps; ++step) {
      if (step == kSteps / 2) begin(kBobs, child);
      attack(step);
      turn(kStep);
    }
    for (int step = 0; step < kSteps && rule_at(child.back().begin, kBobs) != 24; ++step) {
      attack(kSteps + step);
      turn(kStep);
    }
    EXPECT_EQ(rule_at(child.back().begin, kBobs), 24);
  }

  std::shared_ptr<const MappedFile> file;
  std::size_t before = 0;
};

TEST_F(EntryTime, OfWhoMapsMuchAndExecutesItselfAgain) {
  prepare();
  for (int step = 0; step < kSteps; ++step) {
    end(1);
    begin(1, {});
    for (const Mapping& one : many(100)) map(1, one);
    turn(kStep);
  }
  expect_a_tenth();
}

TEST_F(EntryTime, OfChildrenOfSomeHugeMappings) {
  prepare();
  const auto all = many(400);
  for (std::uint32_t step = 0; step < kSteps; ++step) {
    begin(100 + step, all);
    turn(kStep);
    end(100 + step);
  }
  expect_a_tenth();
}

TEST_F(EntryTime, OfProcessesThatReplaceOneHugeMapping) {
  prepare();
  for (std::uint32_t tgid = 100; tgid < 120; ++tgid) map(tgid, huge(1));
  for (int step = 0; step < kSteps; ++step) {
    for (std::uint32_t i = 0; i < 100; ++i)
      replace(100 + i % 20, huge(1, i / 20 % 2 == 0 ? 0x1000 : 0x2000));
    turn(kStep);
  }
  expect_a_tenth();
}

// One call replaces all of them.
TEST_F(EntryTime, OfOneThatMapsOverThousands) {
  prepare();
  begin(1, many(500));
  for (int step = 0; step < 10'000 && rule_at(mapped[1].back().begin, 1) < 0; ++step) turn(kStep);
  maps.put = [] {
    const auto until = thread_cpu_time() + std::chrono::microseconds(50);
    while (thread_cpu_time() < until) continue;
  };
  const std::size_t removals = maps.removals;
  for (const Mapping& one : mapped[1]) {
    registry->mapping_removed({.tgid = 1, .serial = 1}, one);
  }
  EXPECT_LE((maps.removals - removals) * std::chrono::microseconds(50),
            KernelRoom::kSaved + std::chrono::milliseconds(5));
  mapped[1].clear();
  map(1, huge(3));
  for (int step = 0; step < 10'000 && maps.mappings.size() > 51; ++step) turn(kStep);
  for (int step = 0; step < 10 && rule_at(huge(3).begin, 1) < 0; ++step) turn(kStep);
  EXPECT_EQ(maps.mappings.size(), 51U) << "what it has now, and the one of another process";
  EXPECT_EQ(rule_at(huge(3).begin, 1), 24);
}

TEST_F(EntryTime, BobsChildGetsInWhileAliceExecutes) {
  prepare();
  users[1] = kAlice;
  expect_that_bob_gets_in([this](int /*step*/) {
    end(1);
    begin(1, {});
    for (const Mapping& one : many(100)) map(1, one);
  });
}

TEST_F(EntryTime, BobsChildGetsInWhileAliceForks) {
  prepare();
  const auto all = many(100);
  expect_that_bob_gets_in([&](int step) {
    for (std::uint32_t i = 0; i < 4; ++i) {
      const auto tgid = static_cast<std::uint32_t>(1000 + step * 4) + i;
      users[tgid] = kAlice;
      begin(tgid, all);
    }
  });
}

// As where every container runs as root: entries must not use up the time for tables.
TEST_F(EntryTime, IsNotThatForTables) {
  prepare({.at_once = std::chrono::milliseconds(10), .per_second = 1e-9});
  std::vector<Mapping> large;  // 20 ms
  for (std::uint64_t i = 0; i < 4096; ++i) large.push_back(mapping(file, kBase + 2 * i * kSize));
  begin(1, large);
  for (int step = 0; step < 100 && rule_at(large.back().begin, 1) < 0; ++step) turn();
  begin(2, {});
  map(2, mapping(found_at("/new", 32), kBase));
  for (int i = 0; i < 100 && rule_at(kBase, 2) < 0; ++i) turn();
  EXPECT_EQ(rule_at(kBase, 2), 32);
}

TEST_F(EntryTime, WhatEndedIsRemovedByAndBy) {
  prepare();
  begin(1, many(100));
  for (int step = 0; step < 1'000 && rule_at(mapped[1].back().begin, 1) < 0; ++step) turn(kStep);
  ASSERT_EQ(maps.mappings.size(), 5'001U);
  end(1);
  EXPECT_EQ(maps.mappings.size(), 5'001U);
  for (int step = 0; step < 1'000 && maps.mappings.size() > 1; ++step) turn(kStep);
  EXPECT_EQ(maps.mappings.size(), 1U);
}

}  // namespace
}  // namespace offcpud
