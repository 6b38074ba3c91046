// SPDX-License-Identifier: Apache-2.0
// Answers on a socket: only the past of their place says whether they were to come soon.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "sampler/site_place.h"
#include "support/times.h"
#include "unit/sampler/wait_examiner_fixture.h"
#include "waited.h"

namespace offcpud::test {
namespace {

class WaitExaminerAnswersTest : public WaitExaminerTest {
 protected:
  // A wait of this process on a connection on which it spoke last; at one place of all processes.
  static BlockRecord asked(std::uint32_t pid, std::uint64_t ns = kSecond) {
    BlockRecord record = BlockRecord(ns).of(pid).in_user({3});
    record.sample.waited_on = OFFCPUD_ON_ASKED | OFFCPUD_ON_ALONE;
    return record;
  }
  // One that the answer ended.
  static BlockRecord answered(std::uint32_t pid, std::uint64_t ns) {
    BlockRecord record = asked(pid, ns);
    record.sample.waited_on |= OFFCPUD_ON_CAME;
    return record;
  }
  // What the next window says of a lasting one of a process.
  std::shared_ptr<const ExaminedWait> said_of(const BlockRecord& record) {
    lasting(record);
    return examine()->find(record.sample.tid, record.sample.since_ns, false);
  }
};

TEST_F(WaitExaminerAnswersTest, AreCertainOnceTheyCameSoonAtTheirPlace) {
  const auto first = said_of(asked(7));
  EXPECT_EQ(first->wait_for, WaitFor::Answer);
  EXPECT_FALSE(first->certain) << "it may be a job that comes one day";
  EXPECT_THAT(first->user, testing::ElementsAre("shop::f3 [shopd]"));
  for (int i = 0; i < 12; ++i) ended(answered(8, 20 * kMs));
  examine();
  EXPECT_TRUE(said_of(asked(9))->certain);
  EXPECT_FALSE(said_of(asked(10).in_cgroup(2))->certain) << "nothing is known of that unit";
  const auto again = said_of(asked(7));
  EXPECT_TRUE(again->certain) << "stacks that were not certain are looked at again";
}

TEST_F(WaitExaminerAnswersTest, ThatMostlyComeLateAreWork) {
  for (const std::uint64_t seconds : {40, 25, 71}) {
    ended(answered(8, seconds * kSecond));
    EXPECT_EQ(examine()->ended.at(0).wait_for, WaitFor::Answer);
  }
  const BlockRecord idle = asked(9);
  const auto said = said_of(idle);
  EXPECT_EQ(said->wait_for, WaitFor::Work);
  EXPECT_TRUE(said->user.empty());
  ended(answered(8, 33 * kSecond));
  EXPECT_EQ(examine(120s)->ended.at(0).wait_for, WaitFor::Work);

  // Snapshots are told.
  PlaceNumber place(idle.sample.kind);
  StackFrame frame;
  frame.function = "shop::f3";
  frame.object = "shopd";
  place.add(name_hash(frame));
  const ProcessPlace at{.tgid = 9, .process_start_ns = 9, .place = place.number()};
  EXPECT_EQ(places_.find(at, clock_.now()), nullptr);
  const auto* const shares = places_.find(place_of_answers(at), clock_.now());
  ASSERT_NE(shares, nullptr);
  EXPECT_EQ((*shares)[static_cast<std::size_t>(WaitFor::Work)], 1);

  // And told again, once it answers soon.
  for (int i = 0; i < 50; ++i) ended(answered(8, 20 * kMs));
  examine();
  lasting(idle);
  EXPECT_EQ(examine(130s)->find(9, idle.sample.since_ns, false)->wait_for, WaitFor::Answer);
  const auto* const now = places_.find(place_of_answers(at), clock_.now());
  ASSERT_NE(now, nullptr);
  EXPECT_EQ((*now)[static_cast<std::size_t>(WaitFor::Answer)], 1);
}

TEST_F(WaitExaminerAnswersTest, EachAfterTheSameTimeoutAreWork) {
  for (int i = 0; i < 6; ++i) {
    ended(answered(8, 5 * kSecond + 30 * kMs));
    examine();
  }
  EXPECT_EQ(said_of(asked(9))->wait_for, WaitFor::Work);
}

TEST_F(WaitExaminerAnswersTest, EachAfterTheSameTimeButOnANewConnectionAreNoWork) {
  for (int i = 0; i < 12; ++i) {
    BlockRecord record = answered(8, 2 * kSecond + 3 * kMs);
    record.sample.waited_on |= OFFCPUD_ON_FIRST;
    ended(record);
    examine();
  }
  const auto said = said_of(asked(9));
  EXPECT_EQ(said->wait_for, WaitFor::Answer);
  EXPECT_FALSE(said->certain);
}

// Who gives up after half a minute, again and again, waits for a server that does not answer.
TEST_F(WaitExaminerAnswersTest, ThatNeverCameAreNoWork) {
  for (int i = 0; i < 6; ++i) {
    ended(asked(8, 30 * kSecond));
    ended(asked(8, 5 * kSecond));
    examine();
  }
  const auto said = said_of(asked(9));
  EXPECT_EQ(said->wait_for, WaitFor::Answer);
  EXPECT_FALSE(said->certain);
}

}  // namespace
}  // namespace offcpud::test
