// SPDX-License-Identifier: Apache-2.0
#include "sampler/answer_past.h"

#include <gtest/gtest.h>

#include "support/times.h"

namespace offcpud {
namespace {

using test::kMs;
using test::kSecond;
using Habit = AnswerPast::Habit;

// So many answers after `ms`, `apart` seconds from the end of one to the end of the next.
void answers(AnswerPast& past, int count, std::uint64_t ms, std::uint64_t apart = 1) {
  for (int i = 0; i < count; ++i) {
    past.fade(apart * kSecond);
    past.add(ms * kMs, 1);
  }
}

TEST(AnswerPast, AnswersThatComeSoonAreAHabit) {
  AnswerPast past;
  EXPECT_EQ(past.habit(), Habit::Unknown);
  answers(past, 9, 20);
  EXPECT_EQ(past.habit(), Habit::Unknown) << "too few";
  answers(past, 2, 700);
  EXPECT_EQ(past.habit(), Habit::Soon);
  past.fade(3'600 * kSecond);
  EXPECT_EQ(past.habit(), Habit::Unknown) << "long ago";
}

TEST(AnswerPast, AnAnswerStandsForMany) {
  AnswerPast past;
  past.add(2 * kMs, 25);
  EXPECT_EQ(past.habit(), Habit::Soon);
}

TEST(AnswerPast, AnswersThatTakeLongAtTimesAreNone) {
  AnswerPast past;
  answers(past, 100, 20);
  answers(past, 3, 2'500);
  EXPECT_EQ(past.habit(), Habit::Unknown);
  answers(past, 100, 20);
  EXPECT_EQ(past.habit(), Habit::Soon) << "three of two hundred";
}

// BLPOP without a timeout: the next job comes when it comes.
TEST(AnswerPast, AnswersThatMostlyComeLateAreWork) {
  AnswerPast past;
  for (const std::uint64_t seconds : {1'700, 40}) answers(past, 1, 1'000 * seconds, seconds);
  EXPECT_EQ(past.habit(), Habit::Unknown) << "a slow server, as far as anybody knows";
  answers(past, 1, 900'400, 900);
  EXPECT_EQ(past.habit(), Habit::Work);
  answers(past, 1, 20);
  EXPECT_EQ(past.habit(), Habit::Work) << "one job came soon after another";
  answers(past, 20, 20);
  EXPECT_EQ(past.habit(), Habit::Unknown);
}

// A server that used to answer soon, and hangs: no past of an hour is over in minutes.
TEST(AnswerPast, LateAnswersOfAQuickServerAreNoWork) {
  AnswerPast past;
  answers(past, 600, 20);
  answers(past, 30, 31'400, 31);
  EXPECT_EQ(past.habit(), Habit::Unknown);
}

// BRPOP with a timeout, and the next question at once; Redis ends it up to 100 ms late.
TEST(AnswerPast, EndsByTheSameTimeoutAreWork) {
  AnswerPast past;
  for (const std::uint64_t late_ms : {2, 97, 51, 13}) answers(past, 1, 5'000 + late_ms, 5);
  EXPECT_EQ(past.habit(), Habit::Unknown);
  answers(past, 1, 5'030, 5);
  EXPECT_EQ(past.habit(), Habit::Work);
  answers(past, 2, 3'400, 5);
  EXPECT_EQ(past.habit(), Habit::Unknown) << "and jobs";
  answers(past, 40, 5'030, 5);
  answers(past, 2, 3'400, 5);
  EXPECT_EQ(past.habit(), Habit::Work) << "a job now and then";
}

// The server waits for a CPU, too.
TEST(AnswerPast, EndsByTheSameTimeoutAreWorkOnABusyHostToo) {
  AnswerPast past;
  for (int i = 0; i < 20; ++i) answers(past, 1, i % 5 < 2 ? 5'290 : 5'080, 5);
  EXPECT_EQ(past.habit(), Habit::Work);
}

TEST(AnswerPast, AnswersOfTheSameWholeSecondAreNoTimeout) {
  AnswerPast past;
  for (unsigned i = 0; i < 200; ++i) answers(past, 1, 2'000 + 37 * (i % 27), 3);
  EXPECT_EQ(past.habit(), Habit::Unknown);
}

// Of the same functions another thread asks for what is there at once.
TEST(AnswerPast, EndsByATimeoutAreWorkAmongQuickAnswersToo) {
  AnswerPast past;
  for (int i = 0; i < 20; ++i) {
    answers(past, 10, 1, 0);
    answers(past, 1, 2'060, 2);
  }
  EXPECT_EQ(past.habit(), Habit::Work);
  answers(past, 600, 200);
  EXPECT_EQ(past.habit(), Habit::Soon) << "for a while it has worked all the time";
}

TEST(AnswerPast, AnswersOfAnyLengthAreNoTimeout) {
  AnswerPast past;
  for (int i = 0; i < 200; ++i) answers(past, 1, 1'000 + 37 * static_cast<unsigned>(i), 3);
  EXPECT_EQ(past.habit(), Habit::Unknown);
}

// A server that takes exactly two seconds, and whose clients connect for each question.
TEST(AnswerPast, TheFirstAnswerOfAConnectionEndsNoTimeout) {
  AnswerPast past;
  for (int i = 0; i < 40; ++i) {
    past.fade(2 * kSecond);
    past.add(2'003 * kMs, 1, true);
  }
  EXPECT_EQ(past.habit(), Habit::Unknown);
  answers(past, 40, 2'003, 2);
  EXPECT_EQ(past.habit(), Habit::Work) << "those of connections that are kept do";
}

// A gateway gives up after 30 s each time; the server behind it hangs.
TEST(AnswerPast, ATimeoutAsLongAsAStallIsNone) {
  AnswerPast past;
  answers(past, 600, 20);
  answers(past, 20, 30'010, 30);
  EXPECT_EQ(past.habit(), Habit::Unknown);
}

}  // namespace
}  // namespace offcpud
