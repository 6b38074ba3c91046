// SPDX-License-Identifier: Apache-2.0
// What is sent is looked at by tests/integration/push_test.py.
#include "push/ingest_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/push/silent_server.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Kind = IngestOutcome::Kind;

TEST(IngestOutcome, FollowsTheStatus) {
  const struct {
    long status;
    Kind kind;
    PushFailure cause;
  } cases[] = {
      {200, Kind::Accepted, PushFailure::Other},
      {204, Kind::Accepted, PushFailure::Other},
      {301, Kind::Refused, PushFailure::Refused},
      {307, Kind::Refused, PushFailure::Refused},
      {400, Kind::Refused, PushFailure::Refused},
      {401, Kind::TryAgain, PushFailure::Secret},
      {403, Kind::TryAgain, PushFailure::Secret},
      {404, Kind::Refused, PushFailure::Refused},
      {408, Kind::TryAgain, PushFailure::ServerError},
      {413, Kind::Refused, PushFailure::Refused},
      {422, Kind::TryAgain, PushFailure::ServerError},
      {429, Kind::TryAgain, PushFailure::RateLimited},
      {500, Kind::TryAgain, PushFailure::ServerError},
      {503, Kind::TryAgain, PushFailure::ServerError},
  };
  for (const auto& one : cases) {
    const IngestOutcome outcome = outcome_of_answer(one.status, "why", 7s);
    EXPECT_EQ(outcome.kind, one.kind) << one.status;
    EXPECT_EQ(outcome.cause, one.cause) << one.status;
    EXPECT_EQ(outcome.retry_after.has_value(), one.kind == Kind::TryAgain) << one.status;
    EXPECT_EQ(outcome.may_be_the_profile,
              one.kind == Kind::TryAgain && one.cause != PushFailure::Secret)
        << one.status;
    if (one.kind == Kind::Accepted) continue;
    EXPECT_THAT(outcome.sentence, AllOf(HasSubstr(std::to_string(one.status)), HasSubstr("why")));
  }
}

TEST(IngestOutcome, ShowsAnAnswerAsOneShortPrintableLine) {
  const std::string body = "bad \x1b[2J\n\xff" + std::string(10'000, 'x');
  const std::string sentence = outcome_of_answer(400, body, {}).sentence;
  EXPECT_THAT(sentence, HasSubstr("400: bad \\x1b[2J\\x0a\\xffxxx"));
  EXPECT_LT(sentence.size(), 300U);
  EXPECT_THAT(outcome_of_answer(400, "one line\r\n", {}).sentence, Not(HasSubstr("\\x")));
}

TEST(IngestClient, SaysWhyThereIsNoConnection) {
  IngestClient client;
  const PushTarget nowhere{.url = "http://127.0.0.1:1/ingest", .series = "a{}"};  // tcpmux
  const IngestOutcome outcome = client.send(nowhere, {});
  EXPECT_EQ(outcome.kind, Kind::TryAgain);
  EXPECT_EQ(outcome.cause, PushFailure::Connect);
  EXPECT_THAT(outcome.sentence, HasSubstr("Connection refused"));
}

TEST(IngestClient, TellsAServerThatDoesNotAnswerFromOneThatIsNotReached) {
  test::SilentServer silent, full(0);
  const UniqueFd fills = full.connect();
  IngestClient client;
  PushTarget target{.url = silent.url(), .series = "a{}", .timeout = 1s};
  const IngestOutcome unanswered = client.send(target, {});
  EXPECT_EQ(unanswered.cause, PushFailure::Timeout);
  EXPECT_TRUE(unanswered.may_be_the_profile);
  target.url = full.url();
  const IngestOutcome unreached = client.send(target, {});
  EXPECT_EQ(unreached.cause, PushFailure::Timeout);
  EXPECT_FALSE(unreached.may_be_the_profile);
}

TEST(IngestClient, SendsNothingWithoutItsSecret) {
  IngestClient client;
  const PushTarget target{
      .url = "http://127.0.0.1:1/ingest", .series = "a{}", .token_file = "/nonexistent"};
  const IngestOutcome outcome = client.send(target, {});
  EXPECT_EQ(outcome.cause, PushFailure::Secret);
  EXPECT_THAT(outcome.sentence, HasSubstr("/nonexistent"));
}

TEST(IngestClient, AnInterruptHoldsUntilItIsRearmed) {
  IngestClient client;
  const PushTarget nowhere{.url = "http://127.0.0.1:1/ingest", .series = "a{}"};
  client.interrupt();
  EXPECT_EQ(client.send(nowhere, {}).kind, Kind::Interrupted);
  client.rearm();
  EXPECT_EQ(client.send(nowhere, {}).kind, Kind::TryAgain);
}

}  // namespace
}  // namespace offcpud
