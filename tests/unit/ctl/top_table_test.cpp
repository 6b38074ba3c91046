// SPDX-License-Identifier: Apache-2.0
#include "ctl/top_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "ctl/terminal_text.h"
#include "unit/ctl/top_fixture.h"
#include "unit/metrics/golden.h"

namespace offcpud {
namespace {

using test::expect_same_as_file;
using test::kProcessesJson;
using test::kThreadsJson;
using test::kWaitsJson;
using ::testing::HasSubstr;
using ::testing::Not;

const TopRequest kByReason{.by_reason = true};

class TopTableTest : public ::testing::Test {
 protected:
  static TopAnswer answer(const std::string& json) {
    auto answer = parse_top_answer(json);
    if (!answer) ADD_FAILURE() << answer.error().message();
    return answer ? *std::move(answer) : TopAnswer{};
  }
  static std::string text(const std::string& json, std::size_t width) {
    return top_text(top_table(answer(json), "127.0.0.1:19435", width));
  }

  const test::WithLocale utf8_{"C.UTF-8"};
};

TEST_F(TopTableTest, Processes) {
  expect_same_as_file("tests/data/golden/top_processes.txt", text(kProcessesJson, kAnyWidth));
}

TEST_F(TopTableTest, ProcessesOnANarrowTerminal) {
  expect_same_as_file("tests/data/golden/top_processes_80.txt", text(kProcessesJson, 80));
}

// The victim leads, and who idles is in one quiet column.
TEST_F(TopTableTest, ProcessesByWhatTheyWaitFor) {
  expect_same_as_file("tests/data/golden/top_waits.txt", text(kWaitsJson, kAnyWidth));
  expect_same_as_file("tests/data/golden/top_waits_100.txt", text(kWaitsJson, 100));
}

// The lock's 8.31 threads on average, but 9 that their own limit keeps off the CPU.
TEST_F(TopTableTest, WaitsForACpuLeadWhereTheyAreLonger) {
  TopAnswer throttled = answer(kWaitsJson);
  throttled.rows[0].runqueue = {{"throttled", 89.0}, {"wakeup", 1.0}};
  const auto line_of = [](const TopAnswer& what) {
    const std::string all = top_text(top_table(what, "here", kAnyWidth));
    const std::size_t begin = all.find("postgres ");
    return all.substr(begin, all.find('\n', begin) - begin);
  };
  EXPECT_THAT(line_of(throttled), HasSubstr(" cpu      throttled "));
  EXPECT_THAT(line_of(throttled), Not(HasSubstr("8, 28 s")));
  throttled.rows[0].runqueue = {{"throttled", 79.0}, {"wakeup", 1.0}};
  EXPECT_THAT(line_of(throttled), HasSubstr(" lock     postgresql-heavyweight-lock 8, 28 s"));
}

// What its own limit keeps off the CPU is no competition.
TEST_F(TopTableTest, ThrottledTimeStandsApart) {
  TopAnswer throttled = answer(kWaitsJson);
  throttled.rows[0].runqueue = {{"throttled", 20.0}, {"wakeup", 1.0}, {"preempted", 2.0}};
  for (const bool by_reason : {false, true}) {
    const TopTable table = top_table(throttled, "here", kAnyWidth, {.by_reason = by_reason});
    EXPECT_THAT(table.titles, HasSubstr("  RUNQ% THROT% "));
    EXPECT_THAT(table.rows[0], HasSubstr("   30.0  200.0 "));
    EXPECT_THAT(table.rows[1], HasSubstr("      -      - "));
  }
}

// Otherwise columns would come and go while one reads them.
TEST_F(TopTableTest, ColumnsAreTheSameWhateverWaits) {
  TopAnswer some = answer(kProcessesJson), none = some;
  for (TopRow& row : none.rows) row.blocked.clear();
  EXPECT_EQ(top_table(some, "here", 120).titles, top_table(none, "here", 120).titles);
}

// Windows of waits, and the time between two walks.
TEST_F(TopTableTest, SaysOfWhatTimesItIs) {
  TopAnswer times = answer(kWaitsJson);
  const std::string all = "offcpud at here, 12:19:40Z: 214 processes, 1,830 threads; ";
  EXPECT_EQ(top_table(times, "here", kAnyWidth).summary[0], all + "waits over 10 s until 3 s ago");
  times.interval = 2;
  EXPECT_EQ(top_table(times, "here", kAnyWidth).summary[0],
            all + "waits over 10 s until 3 s ago, CPUs over 2 s");
  times.window_age = 0.4;
  EXPECT_EQ(top_table(times, "here", kAnyWidth).summary[0], all + "waits over 10 s, CPUs over 2 s");
  times.window.reset();
  EXPECT_EQ(top_table(times, "here", kAnyWidth).summary[0], all + "waits over 2 s");
}

TEST_F(TopTableTest, ByReasonIfAskedFor) {
  const TopTable table = top_table(answer(kWaitsJson), "here", kAnyWidth, kByReason);
  EXPECT_THAT(table.titles, HasSubstr("LOCK%"));
  EXPECT_THAT(table.titles, Not(HasSubstr("SITE")));
  EXPECT_THAT(table.summary, ::testing::SizeIs(2));
}

TEST_F(TopTableTest, ARowOfProcessesThatHaveEndedHasTheirNumber) {
  auto json = nlohmann::json::parse(kWaitsJson);
  json["processes"][0]["pid"] = json["processes"][0]["start_time"] = nullptr;
  json["processes"][0]["ended_processes"] = 12;
  const TopTable table = top_table(answer(json.dump()), "here", kAnyWidth);
  EXPECT_THAT(table.rows[0], ::testing::ContainsRegex("^ *x12 postgres"));
}

TEST_F(TopTableTest, SaysInWordsThatNobodyWaits) {
  TopAnswer calm = answer(kWaitsJson);
  calm.totals.waits.actionable = 0.02;
  calm.totals.waits.children = 0;
  calm.totals.waits.by_for = {{"storage", {0.02, 0}}, {"work", {400, 0}}};
  const TopTable table = top_table(calm, "here", kAnyWidth);
  EXPECT_EQ(
      table.summary[1],
      "Nobody waits for a lock, an answer, storage or memory (0.02 threads on average); for a "
      "CPU 0.40; running 1.7");
  EXPECT_EQ(table.summary[2], "Idle: 400 wait for work, 0 for a timer. Of 0 nobody can tell.");
  calm.unusual = 2;
  EXPECT_THAT(top_table(calm, "here", kAnyWidth).summary[2],
              HasSubstr("Of 0 nobody can tell; 2 unusually long: offcpuctl stalls."));
}

TEST_F(TopTableTest, WhereNothingIsExaminedItSaysThatTheseAreReasons) {
  EXPECT_THAT(top_table(answer(kProcessesJson), "here", kAnyWidth).summary[2],
              HasSubstr("What waits are for is not known"));
}

TEST_F(TopTableTest, Threads) {
  expect_same_as_file("tests/data/golden/top_threads.txt", text(kThreadsJson, kAnyWidth));
}

TEST_F(TopTableTest, ColumnsThatHaveNoRoomAreToldOf) {
  const TopTable narrow = top_table(answer(kProcessesJson), "here", 80);
  const std::string note = "more columns at a width of ";
  ASSERT_THAT(narrow.note, ::testing::StartsWith(note));
  const std::size_t all = std::stoul(narrow.note.substr(note.size()));
  EXPECT_THAT(text(kProcessesJson, 80), ::testing::EndsWith("\n(" + narrow.note + ")\n"));
  EXPECT_EQ(top_table(answer(kProcessesJson), "here", all).note, "");
  EXPECT_EQ(top_table(answer(kProcessesJson), "here", all - 1).note, narrow.note);
  EXPECT_EQ(top_table(answer(kProcessesJson), "here", kAnyWidth).note, "");
}

// `top --cgroup` and its like: the head is about the same processes as the rows.
TEST_F(TopTableTest, TheHeadIsAboutWhatMatches) {
  TopAnswer some = answer(kWaitsJson);
  some.matching = 1;
  some.selected = some.rows[0];
  some.selected->waits.by_for = {{"lock", {8, 0}}, {"timer", {1.5, 0}}};
  TopTable table = top_table(some, "here", kAnyWidth);
  EXPECT_EQ(
      table.summary[1],
      "Of what matches, threads that wait, on average: lock 8.0; for a CPU 0.01; running 1.5");
  EXPECT_EQ(table.summary[2],
            "Of what matches, idle: 0 wait for work, 1.5 for a timer. Of 0 nobody can tell.");
  EXPECT_THAT(top_table(some, "here", kAnyWidth, kByReason).summary[1],
              ::testing::StartsWith("Of what matches, threads on average: running 1.5, "));
  some.rows[0].ended_processes = 1;
  EXPECT_THAT(top_table(some, "here", kAnyWidth).summary[0],
              HasSubstr("Z: 1 process, of 214, and 1 that has ended; waits over "));
  some.selected.reset();
  table = top_table(some, "here", kAnyWidth);
  EXPECT_THAT(table.summary[1],
              ::testing::StartsWith("On the whole host, threads that wait, on average: lock 8.0"));
  EXPECT_THAT(table.summary[2], ::testing::StartsWith("On the whole host, idle: 400 wait"));
}

// `top --threads --cgroup`: what is shown stands before what a narrow terminal cuts off.
TEST_F(TopTableTest, TheHeadSaysWhatWasAskedFor) {
  TopAnswer threads = answer(kThreadsJson);
  threads.matching = 2;
  TopRequest request{.cgroup = "nginx\x1b.service", .threads = true};
  const auto head = [&](const TopAnswer& of, std::size_t width) {
    return top_table(of, "here", width, request).summary[0];
  };
  EXPECT_EQ(head(threads, kAnyWidth),
            "offcpud at here, 12:19:40Z: 2 threads in nginx\\x1b.service, of 3; waits over 2 s");
  EXPECT_EQ(head(threads, 70),
            "offcpud at here, 12:19:40Z: 2 threads in nginx\\x1b.service, of 3; wai~");
  EXPECT_EQ(shown_rows(request), "threads in nginx\x1b.service");
  request = {
      .filter = "ng", .wait_for = "lock", .pid = 7, .cpu = 3, .threads = true, .pinned = true};
  EXPECT_THAT(
      head(threads, kAnyWidth),
      HasSubstr(
          "Z: 2 pinned threads of process 7 on CPU 3 with \"ng\" that wait for lock, of 3; "));
  threads.matching = 3;  // all fit, and it was asked all the same
  EXPECT_THAT(head(threads, kAnyWidth), HasSubstr(" that wait for lock, of 3; "));
  request = {.wait_for = "unknown", .cpu = 3};  // without `threads` the CPU is not sent
  EXPECT_EQ(shown_rows(request), "processes that wait for what nobody can tell");
  request = {};
  EXPECT_THAT(head(threads, kAnyWidth), HasSubstr("Z: 2 processes, 3 threads; waits"));
}

// Units of one kind begin alike, and all end alike.
TEST_F(TopTableTest, NamesThatHaveNoRoomStayApart) {
  TopAnswer alike = answer(kWaitsJson);
  alike.rows[0].unit = "app-shop-backend-1.service";
  alike.rows[1].unit = "app-shop-backend-2.service";
  alike.rows[1].comm = alike.rows[0].comm = "app";
  const TopTable table = top_table(alike, "here", 100);
  EXPECT_THAT(table.rows[0], ::testing::EndsWith(" app-sh~end-1"));
  EXPECT_THAT(table.rows[1], ::testing::EndsWith(" app-sh~end-2"));
  EXPECT_THAT(table.titles, ::testing::EndsWith(" UNIT OR CGR~"));
}

// As in `offcpuctl stalls`.
TEST_F(TopTableTest, AgesOfBlocksOlderThanTheDaemonAreMarked) {
  TopAnswer old = answer(kWaitsJson);
  old.rows[0].waits.sites[0].estimated = true;
  EXPECT_THAT(top_table(old, "here", kAnyWidth).rows[0], HasSubstr(" 8, ~28 s "));
  old.rows[0].waits.sites[0].oldest = 754.2;
  EXPECT_THAT(top_table(old, "here", kAnyWidth).rows[0], HasSubstr(" 8, ~12 min "));
  old.rows[0].waits.sites[0].oldest = 0;
  EXPECT_THAT(top_table(old, "here", kAnyWidth).rows[0], HasSubstr(" 8      "));
  old = answer(kProcessesJson);
  old.rows[0].oldest_estimated = true;
  EXPECT_THAT(top_table(old, "here", kAnyWidth).rows[0], HasSubstr(" ~12 min 34 s lock"));
}

// `top --for answer`: of who waits for a lock longer, the answer all the same.
TEST_F(TopTableTest, ColumnsAreAboutWhatWasAskedFor) {
  TopAnswer asked = answer(kWaitsJson);
  asked.wait_for = "unknown";
  asked.rows = {asked.rows[1]};
  asked.rows[0].waits.by_for = {{"unknown", {1.2, 0.25}}};
  asked.rows[0].runqueue = {{"throttled", 89.0}};
  const TopTable table = top_table(asked, "here", kAnyWidth);
  EXPECT_THAT(table.rows[0], HasSubstr(" 120.0   25.0 unknown  -  "));
  EXPECT_THAT(table.rows[0], HasSubstr(" 1, 4 s "));
}

TEST_F(TopTableTest, SaysThatTheSumIsOfTheHostWhereSomeRowsAreAskedFor) {
  TopAnswer all = answer(kThreadsJson);
  EXPECT_THAT(top_table(all, "here", kAnyWidth).summary[1],
              ::testing::StartsWith("Threads on average: running 1.0, "));
  all.matching = 2;
  EXPECT_THAT(top_table(all, "here", kAnyWidth).summary[1],
              ::testing::StartsWith("On the whole host, threads on average: running 1.0, "));
}

TEST_F(TopTableTest, NoLineIsLongerThanTheTerminal) {
  for (const char* json : {kProcessesJson, kThreadsJson, kWaitsJson}) {
    for (std::size_t width = 1; width < 200; ++width) {
      const TopTable table = top_table(answer(json), "here", width);
      for (const auto* lines : {&table.summary, &table.rows}) {
        for (const std::string& line : *lines) EXPECT_LE(terminal_width(line), width);
      }
      EXPECT_LE(terminal_width(table.titles), width);
    }
  }
}

TEST_F(TopTableTest, NothingReachesTheTerminalThatItWouldObey) {
  const std::string shown = text(kProcessesJson, kAnyWidth);
  EXPECT_THAT(shown, HasSubstr("evil\\x1~x80\\xae"));
  EXPECT_TRUE(std::none_of(shown.begin(), shown.end(), [](char c) {
    return c != '\n' && (static_cast<unsigned char>(c) < 0x20 || c == 0x7f);
  }));
  EXPECT_THAT(shown, Not(HasSubstr("\xc2\x9b")));
  EXPECT_THAT(shown, Not(HasSubstr("\xe2\x80\xae")));
}

TEST_F(TopTableTest, WithoutAnIntervalItSaysSo) {
  TopAnswer first = answer(kProcessesJson);
  first.interval.reset();
  const TopTable table = top_table(first, "here", kAnyWidth);
  EXPECT_THAT(table.summary[1], HasSubstr("Nothing to compare with yet"));
  EXPECT_THAT(table.rows[0], HasSubstr("   -"));
}

TEST_F(TopTableTest, AKernelThreadThatWaitsForWorkShowsNothing) {
  TopAnswer idle = answer(kProcessesJson);
  idle.rows.resize(1);
  TopRow& row = idle.rows[0];
  row.actionable = 0.5;
  row.runqueue = {{"wakeup", 0.5}};
  row.blocked = {{"kernel", 9.5}};
  EXPECT_THAT(top_table(idle, "here", kAnyWidth).titles, HasSubstr(" KERN%  STOP% OTHER%  RUNQ%"));
  EXPECT_THAT(top_table(idle, "here", kAnyWidth).rows[0],
              HasSubstr("      -      -      -    5.0"));
  row.actionable = 3.5;
  EXPECT_THAT(top_table(idle, "here", kAnyWidth).rows[0],
              HasSubstr("   30.0      -      -    5.0"));
}

TEST_F(TopTableTest, OtherAnswersAreErrors) {
  for (const char* json : {"", "{}", "[]", "<html>", "null", R"({"interval_seconds": "x"})",
                           R"({"interval_seconds": 1, "taken": 5})"}) {
    const auto parsed = parse_top_answer(json);
    ASSERT_FALSE(parsed) << json;
    EXPECT_THAT(parsed.error().message(), HasSubstr("not a list of processes"));
  }
}

// Beyond what their types hold: to convert such a double is undefined behaviour.
TEST_F(TopTableTest, NumbersThatAreNotWholeAreErrors) {
  for (const char* number : {"1e30", "-1", "0.5", "\"4\""}) {
    std::string json = test::kProcessesJson;
    const std::size_t begin = json.find("\"matching\":") + 11;
    json.replace(begin, json.find_first_of(",}", begin) - begin, number);
    EXPECT_FALSE(parse_top_answer(json)) << number;
  }
}

}  // namespace
}  // namespace offcpud
