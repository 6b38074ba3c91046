// SPDX-License-Identifier: Apache-2.0
#include "api/why_goroutines.h"

#include <gmock/gmock.h>

#include "unit/api/why_fixture.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

GoroutineWaits waits(WaitFor wait_for, const char* reason, const char* function, double seconds) {
  GoroutineWaits waits;
  waits.pid = 12;
  waits.process_start_ns = 5;
  waits.cgroup = "/system.slice/db.service/worker";
  waits.program = "till";
  waits.wait_for = wait_for;
  waits.site = "goroutine-x";
  waits.reason = reason;
  waits.function = function;
  waits.ns = seconds * 1e9;
  return waits;
}

class WhyGoroutinesTest : public test::WhyHandlerTest {
 protected:
  WhyGoroutinesTest() {
    for (int i = 6; i > 0; --i) {
      auto window = std::make_shared<GoroutineWindow>();
      window->begin = view_.taken - i * 10s - 2s;
      window->end = window->begin + 10s;
      window->waits = {waits(WaitFor::Lock, "sync.Mutex.Lock", "main.pay", 59),
                       waits(WaitFor::Answer, "chan send", "main.submit", 20),
                       waits(WaitFor::Timer, "sleep", "main.pay", 9),
                       waits(WaitFor::Work, "select", "main.work", 140)};
      window->waits[0].now = 6;
      window->waits[0].longest_ns = 3 * test::kSecond;
      view_.goroutine_history.push_back(window);
    }
  }
  std::string text(const Parameters& parameters) {
    Parameters all = parameters;
    all.emplace("format", "text");
    return test::body_of(ask(all));
  }
};

TEST_F(WhyGoroutinesTest, SaysWhichFunctionWaitsHowOftenAndHowLong) {
  const std::string said = text({{"unit", "db.service"}});
  EXPECT_THAT(said, HasSubstr("db.service: 5.9 goroutines of till (pid 12) wait for a lock in "
                              "main.pay (sync.Mutex.Lock), 1 min 58 s within 20 s, one for at "
                              "least 5 s; who holds it is unknown, because Go does not note "
                              "who holds its locks; meanwhile 0.90 are in the same function and "
                              "wait for a timer (sleep) (offcpuctl goroutines 12)\n"));
  EXPECT_THAT(said, HasSubstr("db.service: 2.0 goroutines of till (pid 12) wait for an answer in "
                              "main.submit (chan send), 40 s within 20 s; whose answer is "
                              "unknown (offcpuctl goroutines 12)\n"));
  EXPECT_THAT(said, HasSubstr("goroutines left out as idle: 14 wait for work, 0.90 for a timer "
                              "(offcpuctl goroutines 12)\n"));
}

TEST_F(WhyGoroutinesTest, OfThoseOfWhichNobodyCanTellWhatForTheAgeAndTheCommandAreSaid) {
  auto window = std::make_shared<GoroutineWindow>(*view_.goroutine_history.back());
  window->waits = {waits(WaitFor::Unknown, "IO wait", "main.read", 20)};
  window->waits[0].longest_ns = 32 * test::kSecond;
  view_.goroutine_history = {window};
  EXPECT_THAT(text({{"unit", "db.service"}}),
              HasSubstr("; of 2.0 nobody can tell what for, one for at least 34 s (offcpuctl "
                        "goroutines 12)\n"));
  window->waits.push_back(window->waits[0]);
  window->waits[1].pid = 13;
  EXPECT_THAT(text({{"unit", "db.service"}}), HasSubstr(" (offcpuctl goroutines PID)\n"));
}

// Nobody of the host's threads may wait while goroutines do.
TEST_F(WhyGoroutinesTest, WhereGoroutinesWaitOnlyThreadsAreSaidNotTo) {
  auto idle = std::make_shared<SiteWindow>(*view_.site_history.back());
  idle->sites.clear();
  view_.site_history = {idle};
  view_.history.clear();
  EXPECT_THAT(text({}), ::testing::StartsWith("no thread waits for a lock, an answer, "));
  view_.goroutine_history.clear();
  EXPECT_THAT(text({}), ::testing::StartsWith("nobody waits for a lock, an answer, "));
}

TEST_F(WhyGoroutinesTest, AboutTheHostOnlyWhatSomebodyMayActOn) {
  const std::string said = text({});
  EXPECT_THAT(said, HasSubstr("main.pay (sync.Mutex.Lock)"));
  EXPECT_THAT(said, Not(HasSubstr("goroutines left out as idle")));
}

TEST_F(WhyGoroutinesTest, OfOtherUnitsAndProcessesItSaysNothing) {
  EXPECT_THAT(text({{"unit", "web.service"}}), Not(HasSubstr("goroutines")));
  EXPECT_THAT(text({{"pid", "12"}}), HasSubstr("main.pay"));
}

TEST_F(WhyGoroutinesTest, AreInJson) {
  const json answer = ask_json({{"unit", "db.service"}, {"window", "30s"}});
  EXPECT_EQ(answer["goroutines"]["window_seconds"], 30);
  ASSERT_THAT(answer["goroutines"]["waits"], SizeIs(4));
  const json& first = answer["goroutines"]["waits"][0];
  EXPECT_EQ(first["unit"], "db.service");
  EXPECT_EQ(first["for"], "lock");
  EXPECT_EQ(first["reason"], "sync.Mutex.Lock");
  EXPECT_EQ(first["function"], "main.pay");
  EXPECT_EQ(first["pid"], 12);
  EXPECT_NEAR(first["goroutines"].get<double>(), 5.9, 1e-9);
  EXPECT_NEAR(first["seconds"].get<double>(), 177, 1e-9);
  EXPECT_EQ(first["now"], 6);
  EXPECT_EQ(first["at_least_seconds"], 5) << "and 2 s since the look";
  EXPECT_EQ(answer["goroutines"]["waits"][3]["for"], "timer");
}

TEST_F(WhyGoroutinesTest, WhoSeesNoDetailsSeesNumbers) {
  WhyQuery query;
  const WhyGoroutines found = why_goroutines(view_, query, nullptr, false);
  ASSERT_THAT(found.rows, SizeIs(4));
  EXPECT_EQ(found.rows[0].wait_for, WaitFor::Lock);
  EXPECT_NEAR(found.rows[0].goroutines, 5.9, 1e-9);
  EXPECT_EQ(found.rows[0].function + found.rows[0].program + found.rows[0].reason, "");
  EXPECT_EQ(found.rows[0].pid, 0U);
}

}  // namespace
}  // namespace offcpud
