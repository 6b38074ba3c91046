// SPDX-License-Identifier: Apache-2.0
#include "api/why_handler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "pipeline/site_history.h"
#include "pipeline/stall.h"
#include "pipeline/wait_history.h"
#include "unit/http/later_response.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::uint64_t kSecond = 1'000'000'000;

std::shared_ptr<const std::string> text(const std::string& t) {
  return std::make_shared<const std::string>(t);
}

class WhyHandlerTest : public ::testing::Test {
 protected:
  WhyHandlerTest() {
    view_.taken = MonotonicTime(1'000s);
    view_.taken_wall = WallTime(1'795'176'000s);
    view_.stalls = std::make_shared<StallList>();
    const auto labels = [](const char* cgroup) {
      return std::make_shared<const SubjectLabels>(labels_of_cgroup(cgroup));
    };
    view_.subjects.push_back({.labels = labels("/system.slice/db.service")});
    view_.subjects.push_back({.labels = labels("/system.slice/web.service")});
    for (int i = 12; i > 0; --i) {
      auto window = std::make_shared<SiteWindow>();
      window->begin = view_.taken - i * 10s;
      window->end = window->begin + 10s;
      // The last minute differs from the one before.
      const double threads = i > 6 ? 1 : 4;
      window->sites = {{.cgroup = text("/system.slice/db.service/worker"),
                        .site = text("row-lock"),
                        .wait_for = WaitFor::Lock,
                        .time = {.ns = threads * 10 * kSecond}}};
      view_.site_history.push_back(window);
    }
    auto step = std::make_shared<WaitStep>();
    step->begin = view_.taken - 10s;
    step->end = view_.taken;
    step->subjects = {
        {.labels = labels("/system.slice/web.service"), .waits = 2, .running_ns = 5 * kSecond}};
    step->waits = {{.kind = OFFCPUD_RUNQ_WAKEUP, .waited_ns = 20 * kSecond},
                   {.kind = OFFCPUD_RUNQ_THROTTLED, .waited_ns = 2 * kSecond}};
    view_.history = {step};
    auto waits = std::make_shared<WaitWindow>();
    waits->begin_at = view_.taken - 10s;
    waits->end_at = view_.taken;
    waits->sites = {{.pid = 12,
                     .process_start_ns = 5,
                     .cgroup = "/system.slice/db.service/worker",
                     .wait_for = WaitFor::Lock,
                     .site = "row-lock",
                     .time = {.ns = 30.0 * kSecond}}};
    view_.waits = waits;
    ProcessRow process;
    process.pid = 12;
    process.start_ns = 5;
    process.comm = "postgres";
    process.labels = labels("/system.slice/db.service/worker");
    view_.processes.push_back(process);
  }

  Response ask(Parameters query, bool details = true) {
    return why_response({.method = "GET", .query = std::move(query), .sees_details = details},
                        view_, [](std::string_view) { return false; });
  }
  json ask_json(Parameters query, bool details = true) {
    const Response response = ask(std::move(query), details);
    EXPECT_EQ(response.status, 200U) << test::body_of(response);
    return json::parse(test::body_of(response));
  }

  View view_;
};

TEST_F(WhyHandlerTest, WithoutAUnitItIsAboutTheHost) {
  const json answer = ask_json({});
  ASSERT_THAT(answer["verdicts"], SizeIs(2));
  EXPECT_EQ(answer["verdicts"][0]["unit"], "db.service");
  EXPECT_NEAR(answer["verdicts"][0]["threads"].get<double>(), 4, 1e-9) << "of the last minute";
  EXPECT_EQ(answer["window_seconds"], 60);
  EXPECT_NEAR(answer["verdicts"][1]["threads"].get<double>(), 2, 1e-9) << "run queue";
}

TEST_F(WhyHandlerTest, AWindowOfOnesOwn) {
  const json answer = ask_json({{"window", "2min"}});
  EXPECT_EQ(answer["window_seconds"], 120);
  EXPECT_NEAR(answer["verdicts"][0]["threads"].get<double>(), 2.5, 1e-9);
}

TEST_F(WhyHandlerTest, AUnitIsNamedAsEverywhere) {
  for (const Parameters& query : {Parameters{{"unit", "web"}},
                                  {{"cgroup", "web.service"}},
                                  {{"cgroup", "/system.slice/web.service"}}}) {
    const json answer = ask_json(query);
    ASSERT_THAT(answer["units"], SizeIs(1));
    EXPECT_EQ(answer["units"][0]["unit"], "web.service");
    EXPECT_NEAR(answer["units"][0]["running"].get<double>(), 0.5, 1e-9);
    EXPECT_EQ(answer["units"][0]["causes"][1]["for"], "throttled");
  }
  EXPECT_THAT(test::body_of(ask({{"unit", "wbe"}})), HasSubstr("belongs to a unit called"));
  EXPECT_EQ(ask({{"unit", "wbe"}}).status, 404U);
}

TEST_F(WhyHandlerTest, AProcessIsOfTheLastWindow) {
  const json answer = ask_json({{"pid", "12"}});
  ASSERT_THAT(answer["units"], SizeIs(1));
  EXPECT_EQ(answer["units"][0]["unit"], "postgres (pid 12)");
  EXPECT_NEAR(answer["units"][0]["actionable"].get<double>(), 3, 1e-9);
  EXPECT_EQ(ask({{"pid", "13"}}).status, 404U);
  EXPECT_EQ(ask({{"pid", "12"}}, false).status, 403U);
}

TEST_F(WhyHandlerTest, WhoMayNotSeeDetailsSeesNeitherSitesNorCulprits) {
  const json answer = ask_json({}, false);
  EXPECT_EQ(answer["details"], false);
  EXPECT_THAT(answer.dump(), Not(HasSubstr("row-lock")));
  EXPECT_THAT(answer["verdicts"][0]["sentence"].get<std::string>(),
              HasSubstr("unknown, because this client may not see details"));
}

TEST_F(WhyHandlerTest, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(ask({{"unit", "a"}, {"pid", "1"}}).status, 400U);
  EXPECT_THAT(test::body_of(ask({{"window", "0s"}})), HasSubstr("a duration such as"));
  EXPECT_THAT(test::body_of(ask({{"pid", "x"}})), HasSubstr("a whole number"));
  EXPECT_EQ(ask({{"limt", "1"}}).status, 400U);
}

TEST_F(WhyHandlerTest, TextIsForPeople) {
  const Response response = ask({{"format", "text"}});
  EXPECT_EQ(response.content_type, "text/plain; charset=utf-8");
  EXPECT_THAT(test::body_of(response),
              ::testing::StartsWith("db.service: 4.0 threads wait for a lock (row-lock), of whom "
                                    "is unknown, because "));
}

}  // namespace
}  // namespace offcpud
