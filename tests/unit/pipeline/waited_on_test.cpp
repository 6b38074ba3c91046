// SPDX-License-Identifier: Apache-2.0
#include "pipeline/waited_on.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace offcpud::test {
namespace {

using namespace std::chrono_literals;

PeerWaits peer_waits(const std::string& on, double ns, WaitFor wait_for = WaitFor::Answer,
                     const std::string& cgroup = "/a") {
  PeerWaits row;
  row.cgroup = cgroup;
  row.wait_for = wait_for;
  row.on = on;
  row.ended = row.time = {.ns = ns, .variance_ns2 = ns};
  return row;
}

std::map<std::string, std::uint64_t> shown(WaitedOnStore& store, std::string_view cgroup = "/a") {
  std::map<std::string, std::uint64_t> sums;
  const auto rows = store.of(cgroup);
  if (!rows) return sums;
  for (const WaitedOn& row : *rows) sums[row.on] += row.ns;
  return sums;
}

std::uint64_t sum_of(const std::map<std::string, std::uint64_t>& sums) {
  std::uint64_t ns = 0;
  for (const auto& [on, each] : sums) ns += each;
  return ns;
}

std::string remote(int number) {
  return "remote:10.0.0.1:" + std::to_string(number);
}

class WaitedOnTest : public testing::Test {
 protected:
  void add(const PeerWaits& row) { store_.add(row.cgroup, row, now_); }

  WaitedOnStore store_;
  MonotonicTime now_ = MonotonicTime() + 1h;
};

TEST_F(WaitedOnTest, AddsUpByWhatForAndOn) {
  add(peer_waits("redis.service", 5));
  add(peer_waits("redis.service", 7));
  add(peer_waits("redis.service", 9, WaitFor::Work));
  add(peer_waits("(unknown)", 1));
  const auto rows = store_.of("/a");
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 3U);
  EXPECT_EQ((*rows)[0].on, "(unknown)");
  EXPECT_EQ((*rows)[1].on, "redis.service");
  EXPECT_EQ((*rows)[1].ns, 12U);
  EXPECT_EQ((*rows)[1].variance_ns2, 12);
  EXPECT_EQ((*rows)[2].wait_for, WaitFor::Work);
  EXPECT_EQ(store_.of("/b"), nullptr);
}

TEST_F(WaitedOnTest, AHundredThousandAddressesAreOther) {
  for (int i = 0; i < 100'000; ++i) add(peer_waits(remote(i), 1));
  const auto sums = shown(store_);
  EXPECT_EQ(sums.size(), WaitedOnStore::kMostOfCgroup + 1);
  EXPECT_EQ(sum_of(sums), 100'000U);
}

TEST_F(WaitedOnTest, OneThatIsMuchLongerOfLateTakesAPlaceAndNothingGoesDown) {
  for (int i = 0; i < 50; ++i) add(peer_waits(remote(i), 100));
  std::map<std::string, std::uint64_t> before = shown(store_);
  for (int i = 0; i < 20; ++i) {
    now_ += 10s;
    add(peer_waits("late.service", 50));
    const auto after = shown(store_);
    EXPECT_EQ(sum_of(after), 5'000U + 50U * static_cast<unsigned>(i + 1));
    for (const auto& [on, ns] : before) {
      if (after.contains(on)) {
        EXPECT_GE(after.at(on), ns) << on;
      }
    }
    before = after;
  }
  EXPECT_TRUE(before.contains("late.service"));
  EXPECT_EQ(before.size(), 51U) << "50 names, late.service among them, and (other): "
                                << testing::PrintToString(before);
}

TEST_F(WaitedOnTest, OneThatIsAsLongDoesNot) {
  for (int i = 0; i < 50; ++i) add(peer_waits(remote(i), 100));
  add(peer_waits("late.service", 100));
  EXPECT_FALSE(shown(store_).contains("late.service"));
}

TEST_F(WaitedOnTest, ManyCgroupsLeaveOthersTheirShare) {
  for (int cgroup = 0; cgroup < 1'000; ++cgroup) {
    for (int i = 0; i < 50; ++i) {
      add(peer_waits(remote(i), 1'000, WaitFor::Answer, "/user/" + std::to_string(cgroup)));
    }
  }
  EXPECT_EQ(store_.size(), WaitedOnStore::kMost);
  for (int i = 0; i < 5; ++i) add(peer_waits(remote(i), 1));
  EXPECT_EQ(store_.size(), WaitedOnStore::kMost);
  EXPECT_EQ(shown(store_).size(), 5U) << "no time of it is other";
}

TEST_F(WaitedOnTest, FoldedOnesAddToTheirSuccessor) {
  add(peer_waits("redis.service", 5));
  add(peer_waits("(unknown)", 2));
  add(peer_waits("redis.service", 1, WaitFor::Answer, "/(removed)"));
  store_.fold("/a", "/(removed)", now_);
  EXPECT_EQ(store_.of("/a"), nullptr);
  EXPECT_EQ(shown(store_, "/(removed)"),
            (std::map<std::string, std::uint64_t>{{"(unknown)", 2}, {"redis.service", 6}}));
  EXPECT_EQ(store_.size(), 1U);
}

WaitWindow window_of(std::vector<PeerWaits> peers, MonotonicTime begin, MonotonicTime end) {
  WaitWindow window;
  window.begin_at = begin;
  window.end_at = end;
  window.peers = std::move(peers);
  return window;
}

TEST(PeerHistory, SumsWindowsSinceThen) {
  PeerHistory history;
  const MonotonicTime start = MonotonicTime() + 1h;
  for (int i = 0; i < 6; ++i) {
    history.add(window_of({peer_waits("redis.service", 10), peer_waits("redis.service", 1),
                           peer_waits("db.service", 4, WaitFor::Storage),
                           peer_waits("db.service", 100, WaitFor::Answer, "/b")},
                          start + i * 10s, start + (i + 1) * 10s));
  }
  const auto windows = history.windows();
  ASSERT_EQ(windows.size(), 6U);
  const auto is_a = [](std::string_view cgroup) { return cgroup == "/a"; };
  const auto rows = waited_on(windows, start + 40s, is_a);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].on, "redis.service");
  EXPECT_EQ(rows[0].time.ns, 22);
  EXPECT_EQ(rows[0].time.variance_ns2, 22);
  EXPECT_EQ(rows[1].time.ns, 8);
}

TEST(PeerHistory, KeepsWhatWasForChildren) {
  PeerHistory history;
  const MonotonicTime start = MonotonicTime() + 1h;
  PeerWaits build = peer_waits("build.service", 10);
  build.child.ns = 4;
  history.add(window_of({build, build, peer_waits("redis.service", 3)}, start, start + 10s));
  const auto windows = history.windows();
  ASSERT_EQ(windows.back()->rows.size(), 2U);
  EXPECT_EQ(windows.back()->rows[0].on, "build.service");
  EXPECT_EQ(windows.back()->rows[0].time.ns, 20);
  EXPECT_EQ(windows.back()->rows[0].child.ns, 8);
  EXPECT_EQ(windows.back()->rows[1].child.ns, 0);
}

TEST(PeerHistory, KeepsTenMinutesAndTheLongestRows) {
  PeerHistory history;
  const MonotonicTime start = MonotonicTime() + 1h;
  for (int i = 0; i < 100; ++i) {
    std::vector<PeerWaits> many;
    for (int k = 0; k < 3'000; ++k) many.push_back(peer_waits(remote(k), k < 10 ? 1e6 : 1));
    history.add(window_of(std::move(many), start + i * 10s, start + (i + 1) * 10s));
  }
  const auto windows = history.windows();
  EXPECT_LE(windows.back()->end - windows.front()->begin, PeerHistory::kAge);
  EXPECT_GE(windows.size(), 30U);
  EXPECT_LE(windows.back()->rows.size(), PeerHistory::kMostRows + 1);
  double ns = 0;
  std::size_t long_ones = 0;
  for (const auto& row : windows.back()->rows) {
    ns += row.time.ns;
    if (row.time.ns == 1e6) ++long_ones;
  }
  EXPECT_EQ(ns, 10 * 1e6 + 2'990);
  EXPECT_EQ(long_ones, 10U);
}

TEST(PeerHistory, KeepsTheLongestChains) {
  PeerHistory history;
  WaitWindow window = window_of({}, MonotonicTime() + 1h, MonotonicTime() + 1h + 10s);
  for (int i = 0; i < 3'000; ++i) {
    window.chains.push_back({.cgroup = "/a", .on = remote(i / 2), .steps = {{WaitFor::Lock, "b"}}});
    window.chains.back().time.ns = i % 2 == 0 ? i : -1;
  }
  history.add(window);
  const auto& chains = history.windows().back()->chains;
  ASSERT_EQ(chains.size(), PeerHistory::kMostRows);
  for (const ChainWaits& row : chains) {
    EXPECT_TRUE(row.time.ns == -1 || row.time.ns >= 1'000) << "both rows of a wait";
  }
}

}  // namespace
}  // namespace offcpud::test
