// SPDX-License-Identifier: Apache-2.0
#include "stacks/peer_times.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>

namespace offcpud::test {
namespace {

WaitPeer remote(std::uint16_t port) {
  return {.kind = WaitPeer::Kind::Remote, .port = port};
}

double total_of(const PeerTimes& times) {
  double ns = 0;
  for (const PeerTime& each : times.times()) ns += each.ended.ns;
  return ns;
}

TEST(PeerTimes, APeerIsTheSameWhateverItIsCalledByNow) {
  ByteBudget::Share bytes;
  PeerTimes times;
  WaitPeer peer{.kind = WaitPeer::Kind::Process, .process = {.tgid = 7, .start_ns = 1}};
  times.of(peer, bytes).ended.add(1, 1);
  peer.process.comm[0] = 'x';
  times.of(peer, bytes).ended.add(2, 2);
  peer.process.start_ns = 2;  // the number was used again
  times.of(peer, bytes).ended.add(4, 4);
  ASSERT_EQ(times.times().size(), 2U);
  EXPECT_EQ(times.times()[0].ended.ns, 3);
}

TEST(PeerTimes, FurtherPeersAreAddedUp) {
  ByteBudget::Share bytes;
  PeerTimes times;
  for (std::uint16_t port = 1; port <= 1'000; ++port) times.of(remote(port), bytes).ended.add(1, 1);
  EXPECT_EQ(times.times().size(), PeerTimes::kMost + 1);
  EXPECT_EQ(times.times().back().peer.kind, WaitPeer::Kind::Others);
  EXPECT_EQ(total_of(times), 1'000);
}

TEST(PeerTimes, AServerWithAProcessForEachConnectionIsStillThatServer) {
  ByteBudget::Share bytes;
  PeerTimes times;
  for (std::uint32_t pid = 1; pid <= 1'000; ++pid) {
    const PeerProcess process{.tgid = pid, .start_ns = pid, .cgroup_id = 7 + pid % 2};
    times.of({.kind = WaitPeer::Kind::Process, .process = process}, bytes).ended.add(1, 1);
  }
  EXPECT_EQ(times.times().size(), PeerTimes::kMost + 2);
  std::map<std::uint64_t, double> by_cgroup;
  for (const PeerTime& each : times.times()) {
    EXPECT_EQ(each.peer.kind, WaitPeer::Kind::Process);
    EXPECT_TRUE(each.peer.process.exists());
    by_cgroup[each.peer.process.cgroup_id] += each.ended.ns;
  }
  EXPECT_EQ(by_cgroup, (std::map<std::uint64_t, double>{{7, 500}, {8, 500}}));
}

TEST(PeerTimes, NoTimeIsLostWithoutBytes) {
  const auto budget = std::make_shared<ByteBudget>(8 * sizeof(PeerTime));
  ByteBudget::Share bytes(budget);
  PeerTimes times;
  for (std::uint16_t port = 1; port <= 10; ++port) times.of(remote(port), bytes).ended.add(1, 1);
  EXPECT_EQ(times.times().size(), 5U);
  EXPECT_EQ(total_of(times), 10);
  EXPECT_EQ(times.bytes(), bytes.taken());
}

}  // namespace
}  // namespace offcpud::test
