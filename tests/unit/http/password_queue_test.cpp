// SPDX-License-Identifier: Apache-2.0
// Whose password is compared next while others send wrong ones without end.
#include "http/password_queue.h"

#include <gtest/gtest.h>

#include <string>

namespace offcpud {
namespace {

using namespace std::chrono_literals;

const std::string kScraper("\x0a\x00\x00\x07", 4);  // 10.0.0.7

std::string attacker(int number) {
  return {'\x0a', '\x00', '\x01', static_cast<char>(number)};
}

class PasswordQueueTest : public ::testing::Test {
 protected:
  // False: it was given up at once.
  bool push(const std::string& peer, const std::string& user) {
    const auto given_up =
        queue_.push({.peer = peer, .credentials = {user, std::to_string(++count_)}}, now_);
    return !given_up || given_up->credentials.password != std::to_string(count_);
  }
  // Compares the next one, which takes half a second, and of which nobody's is right but alice's.
  std::string compare() {
    const PasswordJob job = queue_.pop(now_);
    now_ += 500ms;
    queue_.settle(job.peer, job.credentials.user, job.credentials.user == "alice", now_);
    return job.credentials.user;
  }
  // For so many comparisons, 1,500 wrong passwords arrive during each.
  void flood(int peers, const std::string& user, int comparisons) {
    for (int i = 0; i < comparisons; ++i) {
      for (int n = 0; n < 1'500; ++n) push(attacker(n % peers), user);
      compare();
    }
  }
  // How many comparisons after it came one is made for alice; 0: it was given up, now or later.
  int comparisons_until_alice(const std::string& peer, int attackers, const std::string& user) {
    if (!push(peer, "alice")) return 0;
    for (int i = 1; i < 50; ++i) {
      if (compare() == "alice") return i;
      for (int n = 0; n < 1'500; ++n) push(attacker(n % attackers), user);
    }
    return 0;
  }

  PasswordQueue queue_{8};
  MonotonicTime now_{};
  int count_ = 0;
};

TEST_F(PasswordQueueTest, WhoComesFirstIsServedFirstAmongEquals) {
  for (const char* user : {"carol", "bob", "dave"}) push(kScraper, user);
  EXPECT_EQ(compare(), "carol");
  EXPECT_EQ(compare(), "bob");
  EXPECT_EQ(compare(), "dave");
  EXPECT_TRUE(queue_.empty());
}

TEST_F(PasswordQueueTest, AnotherAddressIsNextWhoeverFloods) {
  for (const int peers : {1, 2, 16}) {
    flood(peers, "alice2", 40);
    const std::string scraper = kScraper.substr(0, 3) + static_cast<char>(peers);
    EXPECT_EQ(comparisons_until_alice(scraper, peers, "alice2"), 1) << peers;
  }
}

// No comparison has told yet that they are wrong.
TEST_F(PasswordQueueTest, AFloodThatHasJustBegunOwesAlready) {
  for (int n = 0; n < 1'600; ++n) push(attacker(n % 16), "bob");
  EXPECT_EQ(comparisons_until_alice(attacker(99), 16, "bob"), 1);
}

TEST_F(PasswordQueueTest, AnotherAddressOfTheSameNetworkIsNextAsWell) {
  flood(16, "bob", 40);
  EXPECT_EQ(comparisons_until_alice(attacker(77), 16, "bob"), 1);
}

TEST_F(PasswordQueueTest, AnotherNameIsNextAtTheSameAddress) {
  flood(1, "bob", 40);
  EXPECT_EQ(comparisons_until_alice(attacker(0), 1, "bob"), 1);
}

// Behind one address, with its own name, nobody can tell it from the flood.
TEST_F(PasswordQueueTest, TheSameNameAtTheSameAddressHasToWait) {
  flood(1, "bob", 40);
  push(attacker(0), "bob");  // in place of the one that was compared last
  EXPECT_FALSE(push(attacker(0), "bob")) << "there is no room, and all are alike";
}

// Addresses that nobody has seen before owe nothing. Who was right once goes before them.
TEST_F(PasswordQueueTest, AnAddressThatWasRightGoesBeforeManyNewOnes) {
  push(kScraper, "alice");
  EXPECT_EQ(compare(), "alice");
  for (int n = 0; n < 200; ++n) push(attacker(n), "bob");
  EXPECT_EQ(comparisons_until_alice(kScraper, 200, "bob"), 1);
}

TEST_F(PasswordQueueTest, WhoWasRightIsTrustedUntilItIsWrongOften) {
  EXPECT_FALSE(queue_.trusts(kScraper, now_));
  push(kScraper, "alice");
  compare();
  EXPECT_TRUE(queue_.trusts(kScraper, now_));
  EXPECT_FALSE(queue_.next_is_trusted(now_)) << "nobody waits";
  push(attacker(0), "bob");
  EXPECT_FALSE(queue_.next_is_trusted(now_));
  push(kScraper, "bob");
  EXPECT_TRUE(queue_.next_is_trusted(now_));
  for (int i = 0; i < 10; ++i) {
    push(kScraper, "bob");
    compare();
  }
  EXPECT_FALSE(queue_.trusts(kScraper, now_));
  EXPECT_FALSE(queue_.next_is_trusted(now_));
}

TEST_F(PasswordQueueTest, NetworksThatOweWaitLonger) {
  flood(1, "bob", 3);
  while (!queue_.empty()) compare();
  for (int n = 100; n < 107; ++n) push(attacker(n), "bob");  // new addresses of the same /24
  EXPECT_EQ(comparisons_until_alice(kScraper, 1, "bob"), 1);
}

TEST_F(PasswordQueueTest, DebtsAreForgotten) {
  flood(1, "bob", 40);
  while (!queue_.empty()) compare();
  now_ += 30min;
  push(attacker(0), "bob");
  push(kScraper, "carol");
  EXPECT_EQ(compare(), "bob");
}

TEST_F(PasswordQueueTest, WhoIsWrongOftenLosesTheTrust) {
  push(attacker(0), "alice");
  EXPECT_EQ(compare(), "alice");
  flood(1, "bob", 40);
  EXPECT_EQ(comparisons_until_alice(kScraper, 1, "bob"), 1);
}

}  // namespace
}  // namespace offcpud
