// SPDX-License-Identifier: Apache-2.0
#include "peers/peer_resolver.h"

#include <gtest/gtest.h>

#include "support/peer_records.h"
#include "support/sampled_blocks.h"

namespace offcpud::test {
namespace {

using namespace std::chrono_literals;
using Kind = WaitPeer::Kind;

class PeerResolverTest : public testing::Test {
 protected:
  WaitPeer resolve(const PeerRecord& record) {
    BlockRecord block(1'000);
    block.sample.kind = OFFCPUD_BLOCKED_NETWORK;
    return resolver_.resolve(block.sample, record.peer, now_);
  }
  static PeerRecord connection(std::uint64_t inode = 5) {
    PeerRecord record = PeerRecord().tcp("127.0.0.1", 4000, "127.0.0.1", 80);
    record.peer.socket.inode = inode;
    return record;
  }
  void walk(const PeerRecord& record) {
    auto table = std::make_shared<SocketTable>();
    table->add(record.held());
    resolver_.use(std::move(table));
  }

  // Process 66 has ended.
  PeerResolver resolver_{[](std::uint32_t pid) { return pid != 66; }};
  MonotonicTime now_ = MonotonicTime() + 1h;
};

// Its end, for example: who closes makes no call for the connection.
TEST_F(PeerResolverTest, AConnectionKeepsThePeerThatWasSeenThere) {
  EXPECT_EQ(resolve(connection().beside(8)).kind, Kind::Unknown);
  EXPECT_TRUE(resolver_.take_missed());
  resolve(connection().beside(7).known());
  EXPECT_EQ(resolve(connection().beside(8)).process.tgid, 7U) << "who is only current is not";
  EXPECT_EQ(resolve(connection(6)).kind, Kind::Unknown) << "another connection";
  now_ += SeenPeers::kGoodFor + 1s;
  EXPECT_EQ(resolve(connection()).kind, Kind::Unknown);
}

// Also of calls by path and of page faults, which are for no descriptor.
TEST_F(PeerResolverTest, AWaitForFuseIsOnItsServer) {
  const PeerRecord wait = PeerRecord().on_fuse(38);
  EXPECT_EQ(resolve(wait).kind, Kind::Device);
  EXPECT_TRUE(resolver_.take_missed());
  walk(PeerRecord().on_fuse(38).beside(7));
  EXPECT_EQ(resolve(wait).kind, Kind::Process);
  EXPECT_EQ(resolve(wait).process.tgid, 7U);
  EXPECT_FALSE(resolver_.take_missed());
  EXPECT_EQ(resolve(PeerRecord().on_fuse(39)).kind, Kind::Device);
  walk(PeerRecord().on_fuse(38).beside(66));
  EXPECT_EQ(resolve(wait).kind, Kind::Device) << "its server has ended";
}

TEST_F(PeerResolverTest, AConnectionOfWhichTwoCgroupsHaveTheOtherEndIsNobodys) {
  resolve(connection().beside(7).known());
  resolve(connection().beside(8).in_cgroup(3).known());
  EXPECT_EQ(resolve(connection()).kind, Kind::Unknown);
  EXPECT_EQ(resolve(connection().beside(8).in_cgroup(3).known()).process.tgid, 8U);
}

TEST_F(PeerResolverTest, ElseTheSocketsOfAllProcessesTellIt) {
  walk(PeerRecord().tcp("127.0.0.1", 80, "127.0.0.1", 4000).beside(7));
  EXPECT_EQ(resolve(connection()).process.tgid, 7U);
  EXPECT_FALSE(resolver_.take_missed());
  walk(PeerRecord().tcp("0.0.0.0", 80, "0.0.0.0", 0).beside(9));
  EXPECT_EQ(resolve(connection()).process.tgid, 9U);
}

// A server that was restarted: until the next walk nobody knows who has its address now.
TEST_F(PeerResolverTest, AWaitInProgressIsOnNoProcessThatHasEnded) {
  walk(PeerRecord().tcp("0.0.0.0", 80, "0.0.0.0", 0).beside(66));
  BlockRecord block(1'000);
  block.sample.kind = OFFCPUD_BLOCKED_NETWORK;
  const auto peer = [&] { return resolver_.resolve(block.sample, connection().peer, now_); };
  EXPECT_EQ(peer().process.tgid, 66U) << "it may have been, when the wait ended";
  EXPECT_FALSE(resolver_.take_missed());
  block.flagged(OFFCPUD_SAMPLE_IN_PROGRESS);
  EXPECT_EQ(peer().kind, Kind::Unknown);
  EXPECT_TRUE(resolver_.take_missed());
}

TEST_F(PeerResolverTest, ElseAnAddressIsRemoteUnlessItIsOfThisHost) {
  const WaitPeer remote = resolve(PeerRecord().tcp("10.0.0.1", 4000, "10.0.0.2", 80));
  EXPECT_EQ(remote.kind, Kind::Remote);
  EXPECT_FALSE(resolver_.take_missed()) << "of most no table knows anything";
}

TEST_F(PeerResolverTest, RemembersSoManyConnections) {
  resolve(connection(1).beside(7).known());
  for (std::uint64_t inode = 2; inode < 2 + SeenPeers::kMost; ++inode) {
    resolve(connection(inode).beside(7).known());
  }
  EXPECT_EQ(resolve(connection(1)).kind, Kind::Unknown);
  EXPECT_EQ(resolve(connection(SeenPeers::kMost)).kind, Kind::Process);
}

}  // namespace
}  // namespace offcpud::test
