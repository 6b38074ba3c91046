// SPDX-License-Identifier: Apache-2.0
// Which connection makes room for a new one.
#include "http/connection_table.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <array>
#include <set>

namespace offcpud {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

class ConnectionTableTest : public ::testing::Test {
 protected:
  // Connection n has descriptor n, and begins n seconds after the start.
  const void* key(int n) { return &keys_.at(static_cast<std::size_t>(n)); }
  MonotonicTime at(int seconds) const { return start_ + std::chrono::seconds(seconds); }
  std::optional<int> open(int n, const char* peer) {
    table_.open(key(n), n, peer, at(n), at(n + 30));
    return table_.make_room_for(key(n));
  }

  std::array<char, 32> keys_{};
  MonotonicTime start_{};
  std::set<int> with_bytes_;  // descriptors on which a request waits
  ConnectionTable table_{{.total = 4, .per_peer = 2, .few = 1},
                         [this](int fd) { return with_bytes_.contains(fd); }};
};

TEST_F(ConnectionTableTest, IsBusyUntilEverybodyHasAnAnswer) {
  EXPECT_FALSE(table_.is_busy());
  open(1, "a");
  EXPECT_TRUE(table_.is_busy()) << "its request may be on its way";
  table_.respond(key(1), at(2), at(60));
  EXPECT_TRUE(table_.is_busy());
  table_.suspend(key(1));
  EXPECT_TRUE(table_.is_busy());
  table_.await_request(key(1), at(3), at(60));
  EXPECT_FALSE(table_.is_busy()) << "it is only kept open";
  open(2, "b");
  EXPECT_TRUE(table_.is_busy());
  table_.close(key(2));
  EXPECT_FALSE(table_.is_busy());
}

TEST_F(ConnectionTableTest, UpToTheLimitsNobodyGoes) {
  for (const int n : {1, 2}) EXPECT_EQ(open(n, "a"), std::nullopt);
  for (const int n : {3, 4}) EXPECT_EQ(open(n, "b"), std::nullopt);
}

TEST_F(ConnectionTableTest, APeerWithTooManyGivesUpItsOwnOldest) {
  EXPECT_EQ(open(1, "a"), std::nullopt);
  EXPECT_EQ(open(2, "b"), std::nullopt);
  EXPECT_EQ(open(3, "b"), std::nullopt);
  EXPECT_THAT(open(4, "b"), Optional(2));
  EXPECT_THAT(open(5, "b"), Optional(3));
}

TEST_F(ConnectionTableTest, BeyondTheTotalTheOldestGoes) {
  for (const int n : {1, 2, 3, 4}) EXPECT_EQ(open(n, std::to_string(n).c_str()), std::nullopt);
  table_.await_request(key(1), at(4), at(40));  // has just had an answer
  EXPECT_THAT(open(5, "e"), Optional(2));
}

TEST_F(ConnectionTableTest, WhoHasOneIsSparedWhileOthersHaveTwo) {
  open(1, "scraper");
  for (const int n : {2, 3}) open(n, "a");
  open(4, "b");
  EXPECT_THAT(open(5, "b"), Optional(2));
  EXPECT_THAT(open(6, "c"), Optional(4));
}

TEST_F(ConnectionTableTest, AFewConnectionsAreNoMoreThanOne) {
  ConnectionTable table({.total = 4, .few = 2}, [](int) { return false; });
  const char* const peers[] = {"a", "b", "scraper", "scraper", "c", "d", "d", "d"};
  std::vector<std::optional<int>> gone;
  for (int n = 0; n < 8; ++n) {
    table.open(key(n), n, peers[n], at(n), at(n + 30));
    gone.push_back(table.make_room_for(key(n)));
  }
  // Of two peers with two the oldest goes, of one with three its own.
  EXPECT_THAT(std::vector(gone.begin() + 4, gone.end()), ElementsAre(0, 1, 2, 5));
}

TEST_F(ConnectionTableTest, OneThatHasJustComeIsWaitedFor) {
  for (const int n : {1, 2, 3, 4}) {
    open(n, std::to_string(n).c_str());
    table_.suspend(key(n));
  }
  using std::chrono::milliseconds;
  const auto come = [&](int n, milliseconds after) {
    table_.open(key(n), n, std::to_string(n), at(4) + after, at(40));
    return table_.make_room_for(key(n));
  };
  EXPECT_EQ(come(5, milliseconds(0)), std::nullopt);
  table_.close(key(1));
  EXPECT_EQ(come(6, milliseconds(49)), std::nullopt);
  table_.close(key(2));
  EXPECT_THAT(come(7, milliseconds(50)), Optional(5));
}

TEST_F(ConnectionTableTest, OneWhoseRequestWaitsGoesLast) {
  with_bytes_ = {1, 2};
  for (const int n : {1, 2, 3, 4}) open(n, std::to_string(n).c_str());
  EXPECT_THAT(open(5, "e"), Optional(3));
  EXPECT_THAT(open(6, "f"), Optional(4));
  with_bytes_ = {1, 2, 5, 6, 7};
  EXPECT_EQ(open(7, "g"), std::nullopt) << "all have sent something";
  EXPECT_THAT(open(8, "h"), Optional(1)) << "they are too many all the same";
}

TEST_F(ConnectionTableTest, WhoSentMoreRequestsThanItReadsAnswersIsNotSparedForThem) {
  with_bytes_ = {1};
  open(1, "a");
  table_.respond(key(1), at(1), at(61));
  for (const int n : {2, 3, 4}) open(n, std::to_string(n).c_str());
  EXPECT_THAT(open(6, "e"), Optional(1));
}

TEST_F(ConnectionTableTest, WhenNobodyOfThePeerThatHasMostCanGoNobodyDoes) {
  for (const int n : {1, 2}) {
    open(n, "busy");
    table_.suspend(key(n));
  }
  for (const int n : {3, 4, 5}) EXPECT_EQ(open(n, std::to_string(n).c_str()), std::nullopt);
}

TEST_F(ConnectionTableTest, ASlowReaderGoesLikeAnIdler) {
  for (const int n : {1, 2, 3, 4}) {
    open(n, std::to_string(n).c_str());
    table_.respond(key(n), at(n), at(n + 60));
  }
  EXPECT_THAT(open(7, "e"), Optional(1));
}

TEST_F(ConnectionTableTest, AnAnswerIsSparedInItsFirstSeconds) {
  open(1, "a");
  table_.respond(key(1), at(1), at(61));
  open(2, "a");
  EXPECT_THAT(open(3, "a"), Optional(2));
  EXPECT_THAT(open(4, "a"), Optional(3));
  EXPECT_THAT(open(6, "a"), Optional(1));
}

// Otherwise they would soon be all that the library accepts, each too new to be given up.
TEST_F(ConnectionTableTest, NewResponsesAreSparedUpToHalfOfTheLimits) {
  ConnectionTable table({.total = 8, .per_peer = 4, .few = 1}, [](int) { return false; });
  const auto come = [&](int n, const char* peer) {
    table.open(key(n), n, peer, at(0) + std::chrono::milliseconds(n), at(30));
    return table.make_room_for(key(n));
  };
  const auto answer = [&](int n, const char* peer) {
    const std::optional<int> gone = come(n, peer);
    table.respond(key(n), at(0) + std::chrono::milliseconds(n), at(60));
    return gone;
  };
  for (const int n : {0, 1, 2, 3}) EXPECT_EQ(answer(n, "a"), std::nullopt);
  EXPECT_THAT(answer(4, "a"), Optional(0)) << "it has four, and two are spared";
  EXPECT_EQ(answer(5, "scraper"), std::nullopt);
  for (const int n : {6, 7}) EXPECT_EQ(answer(n, "b"), std::nullopt);
  EXPECT_EQ(come(8, "c"), std::nullopt);
  EXPECT_THAT(come(9, "d"), Optional(1)) << "of seven four are spared, and a has most";
}

TEST_F(ConnectionTableTest, ANewResponseBesideManyWhoAskForNothingIsSpared) {
  open(1, "a");
  table_.respond(key(1), at(1), at(61));
  for (const int n : {2, 3, 4}) open(n, std::to_string(n).c_str());
  EXPECT_THAT(open(5, "e"), Optional(2));
}

TEST_F(ConnectionTableTest, BeyondAQuarterMoreARequestThatWaitsGoesLast) {
  with_bytes_ = {1};
  for (const int n : {1, 2, 3, 4}) open(n, std::to_string(n).c_str());
  const auto come = [&](int n) {
    table_.open(key(n), n, std::to_string(n), at(4), at(40));
    return table_.make_room_for(key(n));
  };
  EXPECT_THAT(come(5), Optional(2));
  EXPECT_THAT(come(6), Optional(3));
  EXPECT_EQ(come(7), std::nullopt) << "the others have asked, or may be about to";
  EXPECT_THAT(come(8), Optional(1)) << "they are too many all the same";
}

TEST_F(ConnectionTableTest, ASuspendedOneStaysAndHasNoDeadline) {
  table_.open(key(1), 1, "a", at(0), at(1));
  table_.suspend(key(1));
  for (const int n : {2, 3, 4}) open(n, std::to_string(n).c_str());
  EXPECT_THAT(open(5, "e"), Optional(2));
  EXPECT_THAT(table_.expired(at(10)), IsEmpty());
  EXPECT_THAT(table_.expired(at(33)), ::testing::UnorderedElementsAre(2, 3));
}

TEST_F(ConnectionTableTest, OneThatWasShutDownIsNotChosenAgainAndExpires) {
  for (const int n : {1, 2}) open(n, "a");
  EXPECT_THAT(open(3, "a"), Optional(1));
  table_.respond(key(1), at(3), at(100));  // its last request was in a buffer
  EXPECT_THAT(open(4, "a"), Optional(2));
  EXPECT_THAT(table_.expired(at(31)), ElementsAre(1));
}

TEST_F(ConnectionTableTest, OfTooManySlowResponsesTheOldestExpire) {
  ConnectionTable table({.slow_responses = 2});
  for (const int n : {1, 2, 3, 4}) {
    table.open(key(n), n, "a", at(n), at(100));
    table.respond(key(n), at(n), at(100));
  }
  EXPECT_THAT(table.expired(at(8)), IsEmpty());  // two have taken more than 5 s
  EXPECT_THAT(table.expired(at(9)), ElementsAre(1));
  EXPECT_THAT(table.expired(at(20)), ElementsAre(1, 2));
}

TEST(PeerName, IsTheAddressOrTheNetworkOfAnIpv6Host) {
  const auto v6 = [](const char* text) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    EXPECT_EQ(::inet_pton(AF_INET6, text, &address.sin6_addr), 1);
    return peer_name(reinterpret_cast<const sockaddr*>(&address));
  };
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  EXPECT_EQ(::inet_pton(AF_INET, "192.0.2.1", &v4.sin_addr), 1);
  EXPECT_EQ(peer_name(reinterpret_cast<const sockaddr*>(&v4)), v6("::ffff:192.0.2.1"));
  EXPECT_EQ(v6("2001:db8:0:1::1"), v6("2001:db8:0:1:ffff::2"));
  EXPECT_NE(v6("2001:db8:0:1::1"), v6("2001:db8:0:2::1"));
  EXPECT_EQ(peer_name(nullptr), "unix");
}

}  // namespace
}  // namespace offcpud
