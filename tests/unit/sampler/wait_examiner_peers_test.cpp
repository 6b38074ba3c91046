// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sampler/peer_sums.h"
#include "support/peer_records.h"
#include "support/times.h"
#include "unit/sampler/wait_examiner_fixture.h"

namespace offcpud::test {
namespace {

class WaitExaminerPeersTest : public WaitExaminerTest {
 protected:
  void ended_on(const BlockRecord& record, const WaitPeer& peer) {
    cgroup_paths_.add(record.sample.cgroup_id);
    if (WaitSum* const sum = sums_.add(record.block(), peer)) sum->user = located(record);
  }
  void lasting_on(BlockRecord record, const WaitPeer& peer) {
    record.flagged(OFFCPUD_SAMPLE_IN_PROGRESS);
    ended_on(record, peer);
    sums_.note(record.sample, peer);
  }

  static WaitPeer process(std::uint32_t pid, std::uint64_t cgroup_id) {
    WaitPeer peer{.kind = WaitPeer::Kind::Process,
                  .process = {.tgid = pid, .local_tgid = pid, .start_ns = pid}};
    peer.process.cgroup_id = cgroup_id;
    peer.process.comm = {'p', 'e', 'e', 'r'};
    return peer;
  }
  static WaitPeer remote(std::uint16_t port) {
    return {.kind = WaitPeer::Kind::Remote, .address = peer_address("10.0.0.2"), .port = port};
  }

  using Sums = std::map<std::tuple<std::string, WaitFor, std::string>, double>;
  static Sums ended_sums(const WaitWindow& window) {
    Sums sums;
    for (const PeerWaits& each : window.peers) {
      if (each.ended.ns != 0) sums[{each.cgroup, each.wait_for, each.on}] += each.ended.ns;
    }
    return sums;
  }
};

TEST_F(WaitExaminerPeersTest, SaysOnWhomAndWhatFor) {
  ended_on(BlockRecord(1'000).in_user({1}), process(7, 2));
  ended_on(BlockRecord(2'000).standing_for(8'000).in_user({1}), process(7, 2));
  ended_on(BlockRecord(3'000).in_user({1}), remote(80));
  ended_on(BlockRecord(4'000).in_user({2}), process(7, 2));
  ended_on(BlockRecord(5'000).in_user({4}), {});
  const auto window = examine();
  const std::string a = cgroup_paths_.path_of(1), b = cgroup_paths_.path_of(2);
  EXPECT_EQ(ended_sums(*window), (Sums{{{a, WaitFor::Lock, b}, 9'000},
                                       {{a, WaitFor::Lock, "remote:10.0.0.2:80"}, 3'000},
                                       {{a, WaitFor::Work, b}, 4'000},
                                       {{a, WaitFor::Unknown, "(unknown)"}, 5'000}}));
  for (const PeerWaits& each : window->peers) {
    if (each.on != b) continue;
    EXPECT_EQ(each.peer_pid, 7U);
    EXPECT_EQ(each.peer_comm, "peer");
    EXPECT_EQ(each.peer_cgroup, b);
    EXPECT_EQ(each.pid, BlockRecord(1).sample.local_tgid);
  }
}

TEST_F(WaitExaminerPeersTest, TheSumOverAllIsWhatTheyWereFor) {
  for (std::uint16_t i = 1; i < 400; ++i) {
    ended_on(BlockRecord(1'000U * i).standing_for(5'000U * i).in_user({1}), remote(i));
    ended_on(BlockRecord(900U * i).of(i).in_user({2}), process(i, 2));
    lasting_on(BlockRecord(700U * i).of(1'000U + i).in_user({2}), process(i, 2));
  }
  const auto window = examine();
  std::map<WaitFor, double> by_peers, by_waits, within_peers, within_sites;
  for (const PeerWaits& each : window->peers) {
    by_peers[each.wait_for] += each.ended.ns;
    within_peers[each.wait_for] += each.time.ns;
  }
  for (const EndedWaits& each : window->ended) by_waits[each.wait_for] += each.waits.sum_ns;
  for (const SiteWaits& each : window->sites) within_sites[each.wait_for] += each.time.ns;
  EXPECT_EQ(by_peers, by_waits);
  EXPECT_EQ(within_peers, within_sites);
  EXPECT_LE(window->peers.size(), 2 * PeerSums::kMostOfCgroup + kWaitForNames.size());
}

TEST_F(WaitExaminerPeersTest, WaitsForChildrenAreAPartOfTheirs) {
  BlockRecord over = BlockRecord(2'000).in_user({1});
  BlockRecord lasts = BlockRecord(4'000).of(1'000).in_user({1});
  over.sample.kind = lasts.sample.kind = OFFCPUD_BLOCKED_CHILD;
  ended_on(BlockRecord(1'000).in_user({1}), process(7, 2));
  ended_on(over, process(8, 2));
  lasting_on(lasts, process(9, 2));
  const auto window = examine();
  std::map<std::uint32_t, std::pair<double, double>> by_peer;  // time and its part
  for (const PeerWaits& each : window->peers) {
    by_peer[each.peer_pid] = {each.time.ns, each.child.ns};
  }
  using Expected = std::map<std::uint32_t, std::pair<double, double>>;
  EXPECT_EQ(by_peer, (Expected{{7, {1'000, 0}}, {8, {2'000, 2'000}}, {9, {4'000, 4'000}}}));
}

TEST_F(WaitExaminerPeersTest, ManyProcessesOfOneUnitAreStillThatUnit) {
  constexpr std::uint16_t kConnections = 3 * PeerSums::kMostOfCgroup;
  double total = 0;
  for (std::uint16_t i = 1; i <= kConnections; ++i) {
    ended_on(BlockRecord(1'000U * i).of(1U + i % 2).in_user({1}), process(100 + i, 2));
    total += 1'000.0 * i;
  }
  cgroup_paths_.add(2);
  const auto window = examine();
  const std::string a = cgroup_paths_.path_of(1), b = cgroup_paths_.path_of(2);
  EXPECT_EQ(ended_sums(*window), (Sums{{{a, WaitFor::Lock, b}, total}}));
  std::size_t without_peer = 0;
  for (const PeerWaits& each : window->peers) {
    EXPECT_NE(each.pid, 0U);
    without_peer += each.peer_pid == 0 ? 1 : 0;
    EXPECT_EQ(each.peer_cgroup, b);
  }
  EXPECT_EQ(without_peer, 2U) << "one of each process that waits";
}

TEST_F(WaitExaminerPeersTest, ABlockThatLastsWaitsOnItsPeerWithoutHavingEnded) {
  lasting_on(BlockRecord(6'000).in_user({2}), remote(443));
  const auto window = examine();
  ASSERT_EQ(window->peers.size(), 1U);
  EXPECT_EQ(window->peers[0].on, "remote:10.0.0.2:443");
  EXPECT_EQ(window->peers[0].time.ns, 6'000);
  EXPECT_EQ(window->peers[0].ended.ns, 0);
}

// Its blocks end by a timeout, and nobody is seen.
TEST_F(WaitExaminerPeersTest, WhoWaitsForTheGilWaitsOnItsOwnProcess) {
  ended_on(BlockRecord(5'000).of(7).in_user({11}), {});
  ended_on(BlockRecord(3'000).of(7).in_user({11}), remote(80));
  ended_on(BlockRecord(2'000).of(7).in_user({1}), {});
  const auto window = examine();
  const std::string a = cgroup_paths_.path_of(1);
  EXPECT_EQ(ended_sums(*window), (Sums{{{a, WaitFor::Lock, a}, 5'000},
                                       {{a, WaitFor::Lock, "remote:10.0.0.2:80"}, 3'000},
                                       {{a, WaitFor::Lock, "(unknown)"}, 2'000}}));
  for (const PeerWaits& each : window->peers) {
    if (each.on == a) {
      EXPECT_EQ(each.peer_pid, 7U);
    }
  }
}

TEST_F(WaitExaminerPeersTest, WaitsForTheGilAreHeldAlthoughNoBlockLasts) {
  LockHolder by{.kind = LockKind::PythonGil, .tid = 70, .process = process(7, 2).process};
  const auto holder = std::make_shared<const LockHolder>(by);
  const BlockRecord lasts = BlockRecord(6'000).of(300).in_user({11});
  holders_[{300, lasts.sample.since_ns}] = holder;
  lasting_on(lasts, {});
  const GilWait told{.tid = 400,
                     .tgid = 7,
                     .local_tgid = 7,
                     .cgroup_id = 1,
                     .since_ns = 1'000,
                     .block_ns = 2'900,
                     .seen_ns = 3'000,
                     .holder = holder};
  lasting_on(BlockRecord(6'000).of(500).in_user({1}), {});  // it began after the look
  GilWait again = told, earlier = told, elsewhere = told, untold = told;
  again.tid = 300;
  elsewhere.tid = 500;
  earlier.tid = 200;
  untold.tid = 100;
  untold.holder = nullptr;
  untold.look = LockLook::ChangesHands;
  gil_waits_ = {told, again, earlier, elsewhere, untold};
  cgroup_paths_.add(2);
  const auto window = examine();
  ASSERT_EQ(window->held.size(), 3U);
  for (const std::uint32_t tid : {200U, 300U, 400U}) {
    const HeldWait* const held = window->find_held(tid);
    ASSERT_NE(held, nullptr) << tid;
    EXPECT_EQ(held->holder, holder);
    EXPECT_EQ(held->wait_for, WaitFor::Lock);
    EXPECT_EQ(held->cgroup, cgroup_paths_.path_of(1));
    EXPECT_EQ(held->holder_cgroup, cgroup_paths_.path_of(2));
    EXPECT_EQ(held->age_ns, tid == 300 ? 6'000U : 2'000U);
  }
  ASSERT_EQ(window->unheld.size(), 1U);
  EXPECT_EQ(window->unheld[0].changes_hands, 1U);
  EXPECT_TRUE(window->unheld[0].is_gil);
}

TEST_F(WaitExaminerPeersTest, ABlockWhoseLockIsHeldWaitsOnItsHolder) {
  const BlockRecord locked = BlockRecord(6'000).in_user({1});
  const BlockRecord idle = BlockRecord(6'000).of(1'000).in_user({2});
  LockHolder holder{.kind = LockKind::RwLock, .tid = 70, .process = process(7, 2).process};
  for (const BlockRecord& each : {locked, idle}) {
    const offcpud_sample& sample = each.sample;
    holders_[{sample.tid, sample.since_ns}] = std::make_shared<const LockHolder>(holder);
    lasting_on(each, {});
  }
  cgroup_paths_.add(2);
  const auto window = examine();
  ASSERT_EQ(window->held.size(), 1U) << "who waits for work waits for no lock";
  const HeldWait& held = window->held[0];
  EXPECT_EQ(held.tid, locked.sample.tid);
  EXPECT_EQ(held.pid, locked.sample.local_tgid);
  EXPECT_EQ(held.cgroup, cgroup_paths_.path_of(1));
  EXPECT_EQ(held.holder_cgroup, cgroup_paths_.path_of(2));
  EXPECT_EQ(held.holder->tid, 70U);
  EXPECT_EQ(window->find_held(locked.sample.tid), &held);
  EXPECT_EQ(window->find_held(idle.sample.tid), nullptr);
  for (const PeerWaits& each : window->peers) {
    const bool is_lock = each.wait_for == WaitFor::Lock;
    EXPECT_EQ(each.on, is_lock ? cgroup_paths_.path_of(2) : "(unknown)");
    EXPECT_EQ(each.peer_pid, is_lock ? 7U : 0U);
  }
}

// What a look saw of their locks is summed by cgroup; who waits for work waits for no lock.
TEST_F(WaitExaminerPeersTest, BlocksWhoseLocksHaveNoHolderAreCounted) {
  const auto seen = [this](const BlockRecord& record, LockLook look) {
    unheld_[{record.sample.tid, record.sample.since_ns}] = look;
    lasting_on(record, {});
  };
  seen(BlockRecord(6'000).of(11).in_user({1}), LockLook::ChangesHands);
  seen(BlockRecord(6'000).of(12).in_user({1}), LockLook::ChangesHands);
  seen(BlockRecord(6'000).of(13).in_user({1}), LockLook::NamesNobody);
  seen(BlockRecord(6'000).of(14).in_user({2}), LockLook::ChangesHands);
  seen(BlockRecord(6'000).of(15).in_cgroup(2).in_user({1}), LockLook::NamesNobody);
  seen(BlockRecord(6'000).of(16).in_cgroup(2).in_user({1}), LockLook::SeenOnce);
  const auto window = examine();
  ASSERT_EQ(window->unheld.size(), 2U);
  EXPECT_EQ(window->unheld[0].cgroup, cgroup_paths_.path_of(1));
  EXPECT_EQ(window->unheld[0].changes_hands, 2U);
  EXPECT_EQ(window->unheld[0].names_nobody, 1U);
  EXPECT_EQ(window->unheld[1].cgroup, cgroup_paths_.path_of(2));
  EXPECT_EQ(window->unheld[1].changes_hands, 0U);
  EXPECT_EQ(window->unheld[1].names_nobody, 1U);
  EXPECT_EQ(window->unheld[1].seen_once, 1U);
  EXPECT_TRUE(examine()->unheld.empty()) << "each look by itself";
}

TEST_F(WaitExaminerPeersTest, LooksAtTheGilAreCountedApart) {
  const BlockRecord mutex = BlockRecord(6'000).of(11).in_user({1});
  unheld_[{mutex.sample.tid, mutex.sample.since_ns}] = LockLook::NamesNobody;
  lasting_on(mutex, {});
  gil_waits_ = {{.tid = 400,
                 .tgid = 7,
                 .local_tgid = 7,
                 .cgroup_id = 1,
                 .since_ns = 1'000,
                 .block_ns = 2'900,
                 .seen_ns = 3'000,
                 .look = LockLook::ChangesHands}};
  const auto window = examine();
  ASSERT_EQ(window->unheld.size(), 2U) << "of one cgroup";
  EXPECT_FALSE(window->unheld[0].is_gil);
  EXPECT_EQ(window->unheld[0].names_nobody, 1U);
  EXPECT_EQ(window->unheld[0].changes_hands, 0U);
  EXPECT_TRUE(window->unheld[1].is_gil);
  EXPECT_EQ(window->unheld[1].names_nobody, 0U);
  EXPECT_EQ(window->unheld[1].changes_hands, 1U);
}

// Process 10 (cgroup a) waits for 20 (cgroup b), which waits for a lock of 10.0.0.2 meanwhile.
TEST_F(WaitExaminerPeersTest, ChainsSayWhatOthersDidDuringAWait) {
  WaitPeer server = process(20, 2);
  server.tid = 20;
  BlockRecord inner = BlockRecord(60 * kMs).of(20).in_cgroup(2).in_user({1});
  inner.sample.since_ns += 20 * kMs;
  inner.sample.ended_ns += 20 * kMs;
  ended_on(inner, remote(80));
  ended_on(BlockRecord(100 * kMs).of(10).standing_for(300 * kMs).in_user({1}), server);
  ended_on(BlockRecord(100 * kMs).of(11).in_user({2}), server);  // for work
  const auto window = examine();
  const std::string a = cgroup_paths_.path_of(1), b = cgroup_paths_.path_of(2);
  ASSERT_EQ(window->chains.size(), 2U) << "of waits that matter, and whose peer's thread is known";
  for (const ChainWaits& row : window->chains) {
    EXPECT_EQ(row.cgroup, a);
    EXPECT_EQ(row.wait_for, WaitFor::Lock);
    EXPECT_EQ(row.on, b);
  }
  const ChainWaits &waits = window->chains[0], &runs = window->chains[1];
  EXPECT_EQ(waits.steps, (std::vector<ChainWaits::Step>{{WaitFor::Lock, "remote:10.0.0.2:80"}}));
  EXPECT_EQ(waits.end, ChainWaits::End::Waits);
  EXPECT_NEAR(waits.time.ns, 180.0 * kMs, 1) << "it stands for three such waits";
  EXPECT_EQ(runs.end, ChainWaits::End::Runs);
  EXPECT_TRUE(runs.steps.empty());
  EXPECT_NEAR(runs.time.ns, 120.0 * kMs, 1);
  ASSERT_EQ(window->process_chains.size(), 2U) << "the same by process";
  for (const ChainWaits& row : window->process_chains) {
    EXPECT_EQ(row.pid, 10U);
    EXPECT_EQ(row.on, b);
  }
  EXPECT_EQ(window->unchained, 0U);
}

// The server's short waits would be in no sample.
TEST_F(WaitExaminerPeersTest, WhoIsNotWatchedForLongIsNotSaidToRun) {
  WaitPeer server = process(20, 2);
  server.tid = 20;
  sampling_interval_ = 10ms;
  ended_on(BlockRecord(100 * kMs).of(10).in_user({1}), server);
  const auto sure = examine();
  ASSERT_EQ(sure->chains.size(), 1U);
  EXPECT_EQ(sure->chains[0].end, ChainWaits::End::Runs);
  EXPECT_NEAR(sure->chains[0].time.variance_ns2, 1e14, 1) << "10 ms of the 100";
  sampling_interval_ = 50ms;
  ended_on(BlockRecord(100 * kMs).of(10).in_user({1}), server);
  const auto unsure = examine();
  ASSERT_EQ(unsure->chains.size(), 1U);
  EXPECT_EQ(unsure->chains[0].end, ChainWaits::End::Unknown);
  EXPECT_NEAR(unsure->chains[0].time.ns, 100.0 * kMs, 1);
}

// A thread that slept since before the daemon's start, and was woken in the middle of the wait.
TEST_F(WaitExaminerPeersTest, ABlockWhoseBeginningWasNotSeenIsAStep) {
  WaitPeer server = process(20, 2);
  server.tid = 20;
  BlockRecord asleep = BlockRecord(60 * kMs).of(20).in_cgroup(2).in_user({1});
  asleep.flagged(OFFCPUD_SAMPLE_CENSORED);
  ended_on(asleep, {});
  ended_on(BlockRecord(100 * kMs).of(10).in_user({1}), server);
  const auto window = examine();
  ASSERT_EQ(window->chains.size(), 2U);
  EXPECT_EQ(window->chains[0].end, ChainWaits::End::Waits);
  EXPECT_NEAR(window->chains[0].time.ns, 60.0 * kMs, 1);
  EXPECT_EQ(window->chains[1].end, ChainWaits::End::Runs);
  EXPECT_NEAR(window->chains[1].time.ns, 40.0 * kMs, 1);
}

TEST_F(WaitExaminerPeersTest, WhereBlocksAreMissingNobodyIsSaidToRun) {
  WaitPeer server = process(20, 2);
  server.tid = 20;
  for (std::size_t i = 0; i <= WaitSums::kMostEnded; ++i) {
    ended_on(BlockRecord(1'000).of(10).in_user({1}), server);
  }
  const auto window = examine();
  ASSERT_EQ(window->chains.size(), 1U);
  EXPECT_EQ(window->chains[0].end, ChainWaits::End::Unknown);
  EXPECT_NEAR(window->chains[0].time.ns, 1'000.0 * WaitSums::kMostEnded, 1);
}

TEST_F(WaitExaminerPeersTest, WhatFoundNoRoomIsOnNobodyKnown) {
  without_room_[1].add(9'000, 9'000);
  const auto window = examine();
  const std::string a = cgroup_paths_.path_of(1);
  EXPECT_EQ(ended_sums(*window), (Sums{{{a, WaitFor::Unknown, "(unknown)"}, 9'000}}));
}

}  // namespace
}  // namespace offcpud::test
