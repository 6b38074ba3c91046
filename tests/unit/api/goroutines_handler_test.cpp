// SPDX-License-Identifier: Apache-2.0
#include "api/goroutines_handler.h"

#include <gmock/gmock.h>

#include <optional>

#include "unit/http/later_response.h"

namespace offcpud {
namespace {

using test::body_of;
using test::resolved;
using testing::HasSubstr;

// Answers every request with the same error or report.
class FakeGoroutineSource final : public GoroutineSource {
 public:
  Result<GoroutineReport> goroutines_of(std::uint32_t pid, std::size_t groups,
                                        const std::stop_token& /*stop*/) override {
    asked = pid;
    limit = groups;
    if (error) return *error;
    return GoroutineReport{
        .pid = pid, .program = "shop", .version = "go1.19.8", .look = {}, .groups = {}};
  }
  std::uint32_t asked = 0;
  std::size_t limit = 0;
  std::optional<Error> error;
};

class GoroutinesHandlerTest : public testing::Test {
 public:
  Response get(std::multimap<std::string, std::string> query) {
    return resolved(handler_.goroutines({.method = "GET", .query = std::move(query)}));
  }

  FakeGoroutineSource source_;
  RequestWorker worker_;
  GoroutinesHandler handler_{source_, worker_};
};

TEST_F(GoroutinesHandlerTest, AnswersForTheProcessThatIsAskedFor) {
  const Response answer = get({{"pid", "812"}});
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.content_type, "application/json");
  EXPECT_THAT(body_of(answer), HasSubstr("\"pid\":812"));
  EXPECT_EQ(source_.asked, 812);
  const Response text = get({{"pid", "813"}, {"format", "text"}, {"limit", "7"}});
  EXPECT_EQ(source_.limit, 7);
  EXPECT_THAT(body_of(text), HasSubstr("shop (process 813, go1.19.8)"));
}

TEST_F(GoroutinesHandlerTest, AWrongParameterIsAMistakeToTell) {
  const auto expect_refused = [this](std::multimap<std::string, std::string> query,
                                     const std::string& text) {
    const Response refused = get(std::move(query));
    EXPECT_EQ(refused.status, 400);
    EXPECT_THAT(body_of(refused), HasSubstr(text));
  };
  expect_refused({}, "parameter pid is missing");
  expect_refused({{"pid", "0"}}, "parameter pid");
  expect_refused({{"pid", "x"}}, "parameter pid");
  expect_refused({{"pid", "1"}, {"limit", "5000"}}, "parameter limit");
  expect_refused({{"pid", "1"}, {"window", "1s"}}, "unknown parameter");
  EXPECT_EQ(source_.asked, 0);
}

TEST_F(GoroutinesHandlerTest, WhatCannotBeReadSaysWhy) {
  for (const auto& [kind, status] :
       {std::pair(ErrorKind::NotFound, 404U), std::pair(ErrorKind::Unsupported, 404U),
        std::pair(ErrorKind::Internal, 503U)}) {
    source_.error.emplace("process 812 runs no Go program", kind);
    const Response refused = get({{"pid", "812"}});
    EXPECT_EQ(refused.status, status);
    EXPECT_THAT(body_of(refused), HasSubstr("process 812 runs no Go program"));
  }
  source_.error.emplace("open '/proc/1/maps': Permission denied", ErrorKind::Permission);
  const Response guarded = get({{"pid", "1"}});
  EXPECT_EQ(guarded.status, 503U);
  EXPECT_THAT(body_of(guarded), HasSubstr("process 1 cannot be read, because this host guards it "
                                          "(open '/proc/1/maps': Permission denied)"));
}

}  // namespace
}  // namespace offcpud
