// SPDX-License-Identifier: Apache-2.0
#include "peers/socket_table.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/peer_records.h"

namespace offcpud::test {
namespace {

constexpr std::uint32_t kNone = 0;

std::uint32_t tgid_of(const std::optional<PeerProcess>& process) {
  return process ? process->tgid : kNone;
}

SocketTable table_of(const std::vector<PeerRecord>& records) {
  SocketTable table;
  for (const PeerRecord& record : records) table.add(record.held());
  return table;
}

offcpud_socket tcp(const std::string& local, std::uint16_t local_port, const std::string& remote,
                   std::uint16_t remote_port, std::uint32_t netns = 1) {
  return PeerRecord().tcp(local, local_port, remote, remote_port).in_netns(netns).peer.socket;
}

TEST(SocketTable, FindsTheOtherEndOfAConnection) {
  const SocketTable table =
      table_of({PeerRecord().tcp("127.0.0.1", 80, "127.0.0.1", 4000).beside(7)});
  EXPECT_EQ(tgid_of(table.other_end_of(tcp("127.0.0.1", 4000, "127.0.0.1", 80))), 7U);
  EXPECT_EQ(tgid_of(table.other_end_of(tcp("127.0.0.1", 80, "127.0.0.1", 4000))), kNone);
  EXPECT_EQ(tgid_of(table.other_end_of(tcp("127.0.0.1", 4001, "127.0.0.1", 80))), kNone);
}

// Not on loopback, of which each has its own.
TEST(SocketTable, FindsItInAnotherNetworkNamespace) {
  const SocketTable table =
      table_of({PeerRecord().tcp("10.0.0.2", 80, "10.0.0.1", 4000).in_netns(2).beside(7),
                PeerRecord().tcp("127.0.0.1", 80, "127.0.0.1", 4000).in_netns(2).beside(8)});
  EXPECT_EQ(tgid_of(table.other_end_of(tcp("10.0.0.1", 4000, "10.0.0.2", 80))), 7U);
  EXPECT_EQ(tgid_of(table.other_end_of(tcp("127.0.0.1", 4000, "127.0.0.1", 80))), kNone);
}

TEST(SocketTable, NamesNobodyWhereTwoCouldBeMeant) {
  const SocketTable table =
      table_of({PeerRecord().tcp("10.0.0.2", 80, "10.0.0.1", 4000).in_netns(2).beside(7),
                PeerRecord().tcp("10.0.0.2", 80, "10.0.0.1", 4000).in_netns(3).beside(8),
                PeerRecord().tcp("127.0.0.1", 81, "0.0.0.0", 0).beside(7).in_cgroup(2),
                PeerRecord().tcp("127.0.0.1", 81, "0.0.0.0", 0).beside(8).in_cgroup(3)});
  EXPECT_EQ(tgid_of(table.other_end_of(tcp("10.0.0.1", 4000, "10.0.0.2", 80))), kNone);
  EXPECT_EQ(tgid_of(table.listener_of(tcp("127.0.0.1", 4000, "127.0.0.1", 81))), kNone);
}

// All of nginx have its listener.
TEST(SocketTable, NamesTheFirstOfOneCgroup) {
  const SocketTable table = table_of({PeerRecord().tcp("127.0.0.1", 80, "0.0.0.0", 0).beside(7),
                                      PeerRecord().tcp("127.0.0.1", 80, "0.0.0.0", 0).beside(8)});
  EXPECT_EQ(tgid_of(table.listener_of(tcp("127.0.0.1", 4000, "127.0.0.1", 80))), 7U);
}

TEST(SocketTable, TellsWhoServesAFuseFileSystem) {
  const SocketTable table =
      table_of({PeerRecord().on_fuse(38).beside(7), PeerRecord().on_fuse(39).beside(8).in_cgroup(3),
                PeerRecord().on_fuse(40).beside(8), PeerRecord().on_fuse(40).beside(9)});
  EXPECT_EQ(tgid_of(table.fuse_server_of(38)), 7U);
  EXPECT_EQ(tgid_of(table.fuse_server_of(39)), 8U);
  EXPECT_FALSE(table.fuse_server_of(41));
  const auto one_of_two = table.fuse_server_of(40);
  ASSERT_TRUE(one_of_two);
  EXPECT_EQ(one_of_two->tgid, kNone) << "nobody sees which of them reads the requests";
  EXPECT_EQ(one_of_two->cgroup_id, 2U);
}

// As a file server that hands its file system on to a new process of another unit.
TEST(SocketTable, AFuseFileSystemOfTwoCgroupsIsServedByNobody) {
  const SocketTable table = table_of(
      {PeerRecord().on_fuse(38).beside(7), PeerRecord().on_fuse(38).beside(8).in_cgroup(3)});
  EXPECT_FALSE(table.fuse_server_of(38));
}

TEST(SocketTable, WhoseListenerSystemdKeepsIsNotSystemd) {
  for (const bool first : {true, false}) {
    std::vector<PeerRecord> records = {
        PeerRecord().tcp("127.0.0.1", 80, "0.0.0.0", 0).beside(1).in_cgroup(9),
        PeerRecord().tcp("127.0.0.1", 80, "0.0.0.0", 0).beside(7).in_cgroup(2)};
    if (!first) std::swap(records[0], records[1]);
    EXPECT_EQ(tgid_of(table_of(records).listener_of(tcp("127.0.0.1", 4, "127.0.0.1", 80))), 7U);
  }
}

TEST(SocketTable, AListenerOfAllAddressesHasThatOfThisNamespaceOnly) {
  const SocketTable table =
      table_of({PeerRecord().tcp("::", 80, "::", 0).beside(7),
                PeerRecord().tcp("0.0.0.0", 81, "0.0.0.0", 0).in_netns(2).beside(8)});
  EXPECT_EQ(tgid_of(table.listener_of(tcp("127.0.0.1", 4000, "127.0.0.1", 80))), 7U);
  EXPECT_EQ(tgid_of(table.listener_of(tcp("10.0.0.1", 4000, "10.0.0.1", 80))), 7U);
  EXPECT_EQ(tgid_of(table.listener_of(tcp("10.0.0.1", 4000, "10.0.0.2", 80))), kNone)
      << "perhaps another host";
  EXPECT_EQ(tgid_of(table.listener_of(tcp("127.0.0.1", 4000, "127.0.0.1", 81))), kNone);
  EXPECT_EQ(tgid_of(table.listener_of(tcp("127.0.0.1", 4000, "127.0.0.1", 81, 2))), 8U);
}

TEST(SocketTable, FindsTheOtherEndOfAUnixSocket) {
  const SocketTable table = table_of({PeerRecord().unix_socket(11, 12).beside(7)});
  EXPECT_EQ(tgid_of(table.other_end_of(PeerRecord().unix_socket(12, 11).peer.socket)), 7U);
  EXPECT_EQ(tgid_of(table.other_end_of(PeerRecord().unix_socket(12, 0).peer.socket)), kNone);
}

TEST(SocketTable, CountsWhatHasNoRoom) {
  SocketTable table;
  for (std::size_t i = 0; i < SocketTable::kMost + 10; ++i) {
    table.add(PeerRecord().unix_socket(1 + i, 1).beside(7).held());
  }
  EXPECT_EQ(table.size(), SocketTable::kMost);
  EXPECT_EQ(table.left_out(), 10U);
}

// However many processes that user has, and whoever was first.
TEST(SocketTable, WhoHasVeryManyTakesNobodysPlace) {
  SocketTable table;
  for (std::size_t i = 0; i < SocketTable::kMost + 10; ++i) {
    const auto pid = static_cast<std::uint32_t>(1'000 + i % 50);
    table.add(PeerRecord().unix_socket(1'000 + i, 1).beside(pid).held(/*uid=*/1'000));
  }
  for (std::uint64_t i = 0; i < 40; ++i) {
    table.add(PeerRecord().unix_socket(10 + i, 100 + i).beside(7).held(/*uid=*/0));
  }
  EXPECT_EQ(table.size(), SocketTable::kMost);
  EXPECT_EQ(table.left_out(), 50U);
  for (std::uint64_t i = 0; i < 40; ++i) {
    const offcpud_socket other = PeerRecord().unix_socket(100 + i, 10 + i).peer.socket;
    EXPECT_EQ(tgid_of(table.other_end_of(other)), 7U);
  }
  // What gave way is gone; the rest of the largest user is still there.
  std::size_t named = 0;
  for (std::size_t i = 0; i < SocketTable::kMost; ++i) {
    const offcpud_socket other = PeerRecord().unix_socket(1, 1'000 + i).peer.socket;
    if (tgid_of(table.other_end_of(other)) != kNone) ++named;
  }
  EXPECT_EQ(named, SocketTable::kMost - 40);
}

}  // namespace
}  // namespace offcpud::test
