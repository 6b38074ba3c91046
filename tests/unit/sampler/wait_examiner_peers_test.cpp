// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>

#include "sampler/peer_sums.h"
#include "support/peer_records.h"
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
  EXPECT_LE(window->peers.size(), PeerSums::kMostOfCgroup + kWaitForNames.size());
}

TEST_F(WaitExaminerPeersTest, ABlockThatLastsWaitsOnItsPeerWithoutHavingEnded) {
  lasting_on(BlockRecord(6'000).in_user({2}), remote(443));
  const auto window = examine();
  ASSERT_EQ(window->peers.size(), 1U);
  EXPECT_EQ(window->peers[0].on, "remote:10.0.0.2:443");
  EXPECT_EQ(window->peers[0].time.ns, 6'000);
  EXPECT_EQ(window->peers[0].ended.ns, 0);
}

TEST_F(WaitExaminerPeersTest, WhatFoundNoRoomIsOnNobodyKnown) {
  without_room_[1].add(9'000, 9'000);
  const auto window = examine();
  const std::string a = cgroup_paths_.path_of(1);
  EXPECT_EQ(ended_sums(*window), (Sums{{{a, WaitFor::Unknown, "(unknown)"}, 9'000}}));
}

}  // namespace
}  // namespace offcpud::test
