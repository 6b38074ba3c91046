// SPDX-License-Identifier: Apache-2.0
#include "peers/peer_of.h"

#include <gtest/gtest.h>

#include "support/peer_records.h"
#include "support/sampled_blocks.h"

namespace offcpud::test {
namespace {

using Kind = WaitPeer::Kind;

offcpud_sample sample_of(offcpud_hist_kind kind, std::uint32_t flags = 0) {
  BlockRecord record(1'000);
  record.sample.kind = kind;
  return record.flagged(flags).sample;
}

WaitPeer network_peer(const PeerRecord& record) {
  return peer_of(sample_of(OFFCPUD_BLOCKED_NETWORK), record.peer);
}

TEST(PeerOf, WhoHoldsTheOtherEndIsThePeer) {
  const WaitPeer peer =
      network_peer(PeerRecord().tcp("127.0.0.1", 4, "127.0.0.1", 80).beside(7, "redis").known());
  EXPECT_EQ(peer.kind, Kind::Process);
  EXPECT_EQ(peer.process.tgid, 7U);
  EXPECT_EQ(peer.process.cgroup_id, 2U);
  EXPECT_STREQ(peer.process.comm.data(), "redis");
}

// A softirq may run in anybody's time.
TEST(PeerOf, WhoIsOnlyCurrentWhenAPacketComesIsNot) {
  EXPECT_EQ(network_peer(PeerRecord().tcp("127.0.0.1", 4, "127.0.0.1", 80).beside(7)).kind,
            Kind::Unknown);
  // Nor who ends the wait in his own context, as another thread with the same socket may.
  EXPECT_EQ(network_peer(PeerRecord().tcp("127.0.0.1", 4, "127.0.0.1", 80).ended_by(7)).kind,
            Kind::Unknown);
}

TEST(PeerOf, AnotherHostIsItsAddress) {
  const WaitPeer peer = network_peer(PeerRecord().tcp("10.0.0.1", 40'000, "10.0.0.2", 5432));
  EXPECT_EQ(peer.kind, Kind::Remote);
  EXPECT_EQ(peer.address, peer_address("10.0.0.2"));
  EXPECT_EQ(peer.port, 5432);
}

// Each connection has another port of the client.
TEST(PeerOf, WhoConnectedHasNoPort) {
  const WaitPeer peer =
      network_peer(PeerRecord().tcp("10.0.0.1", 80, "10.0.0.2", 40'000, OFFCPUD_ON_ACCEPTED));
  EXPECT_EQ(peer.kind, Kind::Remote);
  EXPECT_EQ(peer.port, 0);
}

TEST(PeerOf, AnAddressOfThisHostIsNoOtherHost) {
  for (const auto* remote : {"127.0.0.1", "127.9.9.9", "::1", "10.0.0.1"}) {
    EXPECT_EQ(network_peer(PeerRecord().tcp("10.0.0.1", 4, remote, 80)).kind, Kind::Unknown)
        << remote;
  }
}

TEST(PeerOf, AListenerWaitsForNobodyWhoIsKnownYet) {
  EXPECT_EQ(network_peer(PeerRecord().tcp("0.0.0.0", 80, "0.0.0.0", 0, OFFCPUD_ON_LISTENER)).kind,
            Kind::Unknown);
}

TEST(PeerOf, WhoEndsAWaitForNoFileIsThePeer) {
  for (const auto kind : {OFFCPUD_BLOCKED_LOCK, OFFCPUD_BLOCKED_CONDVAR, OFFCPUD_BLOCKED_CHILD}) {
    EXPECT_EQ(peer_of(sample_of(kind), PeerRecord().ended_by(7).peer).kind, Kind::Process);
    EXPECT_EQ(peer_of(sample_of(kind), PeerRecord().ended_by(7).signalled().peer).kind,
              Kind::Unknown);
    EXPECT_EQ(peer_of(sample_of(kind), PeerRecord().beside(7).peer).kind, Kind::Unknown);
    EXPECT_EQ(
        peer_of(sample_of(kind, OFFCPUD_SAMPLE_IN_PROGRESS), PeerRecord().ended_by(7).peer).kind,
        Kind::Unknown);
  }
  // The file that ended a wait for many is not known.
  EXPECT_EQ(peer_of(sample_of(OFFCPUD_BLOCKED_POLL), PeerRecord().ended_by(7).peer).kind,
            Kind::Unknown);
}

TEST(PeerOf, AWaitInProgressHasThePeerThatTheWalkFound) {
  const PeerRecord writer = PeerRecord().beside(7).known();
  EXPECT_EQ(peer_of(sample_of(OFFCPUD_BLOCKED_PIPE, OFFCPUD_SAMPLE_IN_PROGRESS), writer.peer).kind,
            Kind::Process);
}

TEST(PeerOf, AFileIsOnItsDevice) {
  const WaitPeer peer =
      peer_of(sample_of(OFFCPUD_BLOCKED_DISK), PeerRecord().on_device(8, 1).ended_by(7).peer);
  EXPECT_EQ(peer.kind, Kind::Device);
  EXPECT_EQ(peer.device, 8U << 20 | 1U);
  EXPECT_EQ(peer.process.tgid, 7U) << "if it turns out to be no wait for storage";
}

}  // namespace
}  // namespace offcpud::test
