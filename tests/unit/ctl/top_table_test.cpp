// SPDX-License-Identifier: Apache-2.0
#include "ctl/top_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "ctl/terminal_text.h"
#include "unit/ctl/top_fixture.h"
#include "unit/metrics/golden.h"

namespace offcpud {
namespace {

using test::expect_same_as_file;
using test::kProcessesJson;
using test::kThreadsJson;
using ::testing::HasSubstr;
using ::testing::Not;

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

TEST_F(TopTableTest, Threads) {
  expect_same_as_file("tests/data/golden/top_threads.txt", text(kThreadsJson, kAnyWidth));
}

TEST_F(TopTableTest, NoLineIsLongerThanTheTerminal) {
  for (const char* json : {kProcessesJson, kThreadsJson}) {
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
  EXPECT_THAT(shown, HasSubstr("evil\\x1b[2J"));
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
  EXPECT_THAT(top_table(idle, "here", kAnyWidth).titles, Not(HasSubstr("KERN%")));
  row.actionable = 3.5;
  EXPECT_THAT(top_table(idle, "here", kAnyWidth).titles, HasSubstr("KERN%"));
  EXPECT_THAT(top_table(idle, "here", kAnyWidth).rows[0], HasSubstr("   30.0    5.0"));
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
