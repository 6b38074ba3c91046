// SPDX-License-Identifier: Apache-2.0
#include "api/goroutines_answer.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace offcpud {
namespace {

using testing::HasSubstr;
using testing::Not;

GoroutineReport report() {
  GoroutineReport report{.pid = 812,
                         .program = "shop",
                         .version = "go1.19.8",
                         .look = {.all = 10,
                                  .looked_at = 10,
                                  .ended = 1,
                                  .running = 2,
                                  .in_call = 1,
                                  .waiting = std::vector<WaitingGoroutine>(6)},
                         .took = std::chrono::seconds(1),
                         .groups = {.shown = {}, .of_runtime = 1}};
  report.groups.shown.push_back(
      {.number = 3,
       .reason = "chan receive",
       .functions = {"runtime.gopark", "runtime.chanrecv", "main.take", "runtime.main"},
       .longest = std::chrono::seconds(90)});
  report.groups.shown.push_back({.number = 2,
                                 .reason = "sleep",
                                 .functions = {"runtime.gopark", "time.Sleep", "main.poll"},
                                 .longest = {}});
  report.groups.shown.push_back({.number = 1,
                                 .reason = "force gc (idle)",
                                 .functions = {"runtime.gopark", "runtime.forcegchelper"},
                                 .is_runtime = true,
                                 .longest = {}});
  return report;
}

TEST(GoroutinesText, HasTheProgramsOwnFunctionsWithReasonAndAge) {
  EXPECT_EQ(goroutines_text(report()),
            "shop (process 812, go1.19.8): 9 goroutines; waiting: 6, running: 2, "
            "waiting for a CPU: 0, in system calls: 1\n"
            "ages: as of now, from looks within 1 s and from garbage collections; offcpuctl why "
            "812, which looks all the time, may know longer ones\n"
            "\n"
            "3 goroutines: chan receive, one for at least 1 min 30 s\n"
            "    main.take\n"
            "    runtime.main\n"
            "\n"
            "2 goroutines: sleep\n"
            "    time.Sleep\n"
            "    main.poll\n"
            "\n"
            "left out: of the runtime itself: 1 goroutine\n");
}

TEST(GoroutinesText, SaysWhatIsLeftOut) {
  GoroutineReport some = report();
  some.look.all = 100'000;
  some.look.changed = 4;
  some.look.unreadable = 1;
  some.groups.shown.resize(1);
  some.groups.left_out = 1;
  const std::string text = goroutines_text(some);
  EXPECT_THAT(text, HasSubstr("9 goroutines of the 10 that were looked at, of 100000, spread "
                              "evenly, ended ones among them; waiting: 6"));
  EXPECT_THAT(text, Not(HasSubstr("main.poll")));
  EXPECT_THAT(text, HasSubstr("left out (--limit): groups: 1\n"));
  EXPECT_THAT(text, HasSubstr("changed while they were read: 4 goroutines\n"));
  EXPECT_THAT(text, HasSubstr("could not be read: 1 goroutine\n"));
}

TEST(GoroutinesText, SaysNothingOfAgesWhereItHasNone) {
  GoroutineReport some = report();
  some.groups.shown[0].longest = {};
  some.groups.shown[2].longest =
      std::chrono::seconds(9);  // of the runtime's own, which it does not show
  EXPECT_THAT(goroutines_text(some), Not(HasSubstr("ages: ")));
}

TEST(GoroutinesText, ShowsAFunctionThatCallsItselfOnce) {
  GoroutineReport some = report();
  some.groups.shown[0].functions = {"main.take", "main.walk", "main.walk", "main.walk",
                                    "main.take"};
  EXPECT_THAT(goroutines_text(some),
              HasSubstr("    main.take\n    main.walk (3 times)\n    main.take\n"));
}

TEST(GoroutinesText, SaysWhereAStackIsNotWhole) {
  GoroutineReport some = report();
  some.groups.shown[0].end = GoStack::End::Depth;
  some.groups.shown[1].end = GoStack::End::Lost;
  some.groups.shown[2] = {
      .number = 1, .reason = "", .functions = {}, .has_stack = false, .longest = {}};
  const std::string text = goroutines_text(some);
  EXPECT_THAT(text, HasSubstr("    runtime.main\n    (there are more)\n"));
  EXPECT_THAT(text, HasSubstr("    main.poll\n    (the rest is unknown)\n"));
  EXPECT_THAT(text, HasSubstr("1 goroutine: unknown\n    (no stack: they changed"));
}

TEST(GoroutinesJson, HasAllOfIt) {
  GoroutineReport some = report();
  some.groups.shown.resize(2);
  some.groups.of_runtime_left_out = 1;
  const auto answer = nlohmann::json::parse(goroutines_json(some));
  EXPECT_EQ(answer["pid"], 812);
  EXPECT_EQ(answer["go"], "go1.19.8");
  EXPECT_EQ(answer["all"], 10);
  EXPECT_EQ(answer["waiting"], 6);
  EXPECT_EQ(answer["seconds"], 1.0);
  ASSERT_EQ(answer["groups"].size(), 2);
  EXPECT_EQ(answer["groups_left_out"], 1);
  const auto& group = answer["groups"][0];
  EXPECT_EQ(group["goroutines"], 3);
  EXPECT_EQ(group["reason"], "chan receive");
  EXPECT_EQ(group["at_least_seconds"], 90.0);
  EXPECT_EQ(group["runtime"], false);
  EXPECT_EQ(group["end"], "root");
  EXPECT_EQ(group["functions"][2], "main.take");
  EXPECT_TRUE(answer["groups"][1]["at_least_seconds"].is_null());
}

TEST(GoroutinesJson, NamesOfAnyBytesAreText) {
  GoroutineReport some = report();
  some.groups.shown[0].functions = {"main.\xff"};
  EXPECT_TRUE(nlohmann::json::accept(goroutines_json(some)));
}

}  // namespace
}  // namespace offcpud
