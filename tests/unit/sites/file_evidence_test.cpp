// SPDX-License-Identifier: Apache-2.0
#include "sites/file_evidence.h"

#include <gtest/gtest.h>

#include "waited.h"

namespace offcpud {
namespace {

constexpr EvidenceVerdict kAnswer{.wait_for = WaitFor::Answer, .certain = true};
constexpr EvidenceVerdict kWork{.wait_for = WaitFor::Work, .certain = true};

TEST(FileEvidence, SaysWhatASingleSocketIsFor) {
  for (const SiteQuestion ask : {SiteQuestion::Socket, SiteQuestion::Fds}) {
    for (const std::uint32_t known : {OFFCPUD_ON_ALONE, OFFCPUD_ON_READY}) {
      const EvidenceVerdict asked{.wait_for = WaitFor::Answer,
                                  .certain = known == OFFCPUD_ON_ALONE};
      EXPECT_EQ(by_files(ask, known | OFFCPUD_ON_ASKED), asked);
      EXPECT_EQ(by_files(ask, known | OFFCPUD_ON_HEARD), kWork);
      EXPECT_EQ(by_files(ask, known | OFFCPUD_ON_ACCEPTED), kWork);
      EXPECT_EQ(by_files(ask, known | OFFCPUD_ON_LISTENER), kWork);
      EXPECT_EQ(by_files(ask, known | OFFCPUD_ON_OTHER), std::nullopt);
    }
  }
}

TEST(FileEvidence, WhoWaitsOnASocketOfUnknownTurnAloneWaitsForAnAnswerButNotForCertain) {
  for (const SiteQuestion ask : {SiteQuestion::Socket, SiteQuestion::Fds}) {
    EXPECT_EQ(by_files(ask, OFFCPUD_ON_LINKED | OFFCPUD_ON_ALONE),
              EvidenceVerdict{.wait_for = WaitFor::Answer});
  }
}

// nginx before a php-fpm that hangs, on a Unix socket; and a loop that has a connection to the bus
// of messages among others.
TEST(FileEvidence, ASocketOfUnknownTurnLeavesASetOpen) {
  const std::uint32_t linked = OFFCPUD_ON_LINKED;
  const std::uint32_t server = OFFCPUD_ON_LISTENER | OFFCPUD_ON_ACCEPTED | OFFCPUD_ON_EVENT;
  EXPECT_EQ(by_files(SiteQuestion::Fds, server | linked), std::nullopt);
  EXPECT_EQ(by_files(SiteQuestion::Fds, OFFCPUD_ON_HEARD | linked), std::nullopt);
  EXPECT_EQ(by_files(SiteQuestion::Fds, OFFCPUD_ON_READY | linked), std::nullopt);
  EXPECT_EQ(by_files(SiteQuestion::Fds, OFFCPUD_ON_READY | OFFCPUD_ON_ACCEPTED), kWork)
      << "it is the one that became ready";
}

// But not for certain: an idle client of NATS spoke last, too.
TEST(FileEvidence, OneOutstandingQuestionOfASetIsEnough) {
  constexpr EvidenceVerdict kMaybeAnswer{.wait_for = WaitFor::Answer};
  const std::uint32_t server = OFFCPUD_ON_LISTENER | OFFCPUD_ON_ACCEPTED | OFFCPUD_ON_EVENT;
  EXPECT_EQ(by_files(SiteQuestion::Fds, server), kWork);
  EXPECT_EQ(by_files(SiteQuestion::Fds, server | OFFCPUD_ON_HEARD), kWork);
  EXPECT_EQ(by_files(SiteQuestion::Fds, server | OFFCPUD_ON_ASKED), kMaybeAnswer);
  EXPECT_EQ(by_files(SiteQuestion::Fds, server | OFFCPUD_ON_MORE), std::nullopt)
      << "the rest may have one";
  EXPECT_EQ(by_files(SiteQuestion::Fds, server | OFFCPUD_ON_ASKED | OFFCPUD_ON_MORE), kMaybeAnswer);
}

// etcd keeps a connection of HTTP/2 to itself, on which it acknowledged SETTINGS when it started.
TEST(FileEvidence, WhoRepliedAtOnceAWhileAgoMayHaveAskedNothing) {
  const std::uint32_t server = OFFCPUD_ON_LISTENER | OFFCPUD_ON_ACCEPTED | OFFCPUD_ON_EVENT;
  constexpr EvidenceVerdict kNobodyCanTell{.wait_for = WaitFor::Unknown};
  EXPECT_EQ(by_files(SiteQuestion::Fds, server | OFFCPUD_ON_REPLIED), kNobodyCanTell);
  EXPECT_EQ(by_files(SiteQuestion::Fds, server | OFFCPUD_ON_REPLIED | OFFCPUD_ON_HEARD),
            kNobodyCanTell);
  EXPECT_EQ(by_files(SiteQuestion::Fds, server | OFFCPUD_ON_REPLIED | OFFCPUD_ON_ASKED),
            EvidenceVerdict{.wait_for = WaitFor::Answer});
  for (const SiteQuestion ask : {SiteQuestion::Socket, SiteQuestion::Fds}) {
    EXPECT_EQ(by_files(ask, OFFCPUD_ON_REPLIED | OFFCPUD_ON_ALONE), kAnswer)
        << "who waits on nothing else asked the next question";
  }
}

TEST(FileEvidence, LeavesOtherFilesAndOtherQuestionsOpen) {
  EXPECT_EQ(by_files(SiteQuestion::Fds, 0), std::nullopt);
  EXPECT_EQ(by_files(SiteQuestion::Fds, OFFCPUD_ON_EVENT | OFFCPUD_ON_PIPE), std::nullopt);
  EXPECT_EQ(by_files(SiteQuestion::Fds, OFFCPUD_ON_TIMER | OFFCPUD_ON_PIPE), std::nullopt);
  for (const SiteQuestion ask : {SiteQuestion::None, SiteQuestion::Waker, SiteQuestion::Child}) {
    EXPECT_EQ(by_files(ask, OFFCPUD_ON_ASKED | OFFCPUD_ON_ALONE), std::nullopt);
  }
}

TEST(FileEvidence, ATimerIsATimer) {
  const auto said = by_files(SiteQuestion::Fds, OFFCPUD_ON_TIMER | OFFCPUD_ON_READY);
  ASSERT_TRUE(said);
  EXPECT_EQ(said->wait_for, WaitFor::Timer);
}

TEST(FileEvidence, LoopsThatWakeEachOtherHoldNoLock) {
  const EvidenceVerdict lock{.wait_for = WaitFor::Lock, .certain = true};
  const EvidenceVerdict timer{.wait_for = WaitFor::Timer, .certain = true};
  EXPECT_EQ(as_asked(SiteQuestion::Waker, lock, WaitFor::Unknown), lock);
  EXPECT_EQ(as_asked(SiteQuestion::Fds, lock, WaitFor::Unknown).wait_for, WaitFor::Unknown);
  EXPECT_EQ(as_asked(SiteQuestion::Fds, timer, WaitFor::Unknown), timer);
  EXPECT_EQ(as_asked(SiteQuestion::Fds, timer, WaitFor::Work).wait_for, WaitFor::Work);
}

// The threads of a pool that lead in turn wake each other as holders of a lock do.
TEST(FileEvidence, WhoIsAskedForHisTimerHoldsNoLock) {
  const EvidenceVerdict lock{.wait_for = WaitFor::Lock, .certain = true};
  const EvidenceVerdict answer{.wait_for = WaitFor::Answer};
  const EvidenceVerdict timer{.wait_for = WaitFor::Timer, .certain = true};
  ASSERT_TRUE(asks_for_wakers(SiteQuestion::Timer));
  EXPECT_EQ(as_asked(SiteQuestion::Timer, lock, WaitFor::Work).wait_for, WaitFor::Work);
  EXPECT_EQ(as_asked(SiteQuestion::Timer, answer, WaitFor::Work).wait_for, WaitFor::Work);
  EXPECT_EQ(as_asked(SiteQuestion::Timer, timer, WaitFor::Work), timer);
}

}  // namespace
}  // namespace offcpud
