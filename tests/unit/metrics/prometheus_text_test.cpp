// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "metrics/exposition.h"
#include "metrics/self_metrics.h"
#include "unit/metrics/golden.h"
#include "unit/metrics/view_fixture.h"

namespace offcpud {
namespace {

using test::histogram_of;
using test::hostile_view;
using test::render;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Name and labels of a sample; the value follows the last space.
std::string series_of(const std::string& line) {
  return line.substr(0, line.rfind(' '));
}
std::string value_of(const std::string& line) {
  return line.substr(line.rfind(' ') + 1);
}

std::string family_of(const std::string& line) {
  std::string name = line.substr(0, line.find_first_of("{ "));
  for (const std::string suffix : {"_bucket", "_sum", "_count"}) {
    if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  }
  return name;
}

std::shared_ptr<const View> view_with(const std::shared_ptr<const LatencyHistogram>& histogram) {
  auto view = std::make_shared<View>();
  SubjectSeries series = test::subject_of("/a");
  series.histograms[OFFCPUD_BLOCKED_DISK] = histogram;
  view->subjects.push_back(series);
  return view;
}

TEST(PrometheusText, HostileViewIsRenderedAsRecorded) {
  test::expect_same_as_file("tests/data/golden/metrics.prom", render(hostile_view()));
}

TEST(PrometheusText, PromtoolFindsNothingToSay) {
  if (std::system("command -v promtool >/dev/null") != 0) GTEST_SKIP() << "no promtool on PATH";
  SelfMetrics self({"0.1.0", "abc", "6.1"});
  self.add_stage("read");
  self.set_feature("btf", true);
  const std::string text = render(hostile_view(), 28, test::text_of(self));
  std::FILE* promtool = ::popen("promtool check metrics", "w");
  ASSERT_NE(promtool, nullptr);
  EXPECT_EQ(std::fwrite(text.data(), 1, text.size(), promtool), text.size());
  EXPECT_EQ(::pclose(promtool), 0);
}

TEST(PrometheusText, TheBufferSizeDoesNotChangeTheText) {
  const std::string whole = render(hostile_view(), 28, "self 1\n");
  for (const std::size_t size : {1U, 7U, 100U, 65536U}) {
    EXPECT_EQ(render(hostile_view(), 28, "self 1\n", size), whole) << size;
  }
}

TEST(PrometheusText, EndsWithZeroForEver) {
  Exposition text(hostile_view(), make_writer({}), nullptr);
  (void)test::read_all(text);
  std::array<char, 8> buffer{};
  EXPECT_EQ(text.read(buffer), 0U);
  EXPECT_EQ(text.read(buffer), 0U);
}

TEST(PrometheusText, FamiliesAreContiguousAndDescribedOnce) {
  std::set<std::string> finished;
  std::set<std::string> described;
  std::string current;
  for (const std::string& line : lines_of(render(hostile_view()))) {
    if (line.starts_with("# TYPE ")) {
      EXPECT_TRUE(described.insert(line).second) << line;
    }
    if (line.starts_with('#')) continue;
    if (family_of(line) == current) continue;
    EXPECT_TRUE(finished.insert(family_of(line)).second) << "again: " << line;
    current = family_of(line);
  }
  EXPECT_EQ(described.size(), finished.size());
}

TEST(PrometheusText, NoSeriesAppearsTwice) {
  std::set<std::string> seen;
  for (const std::string& line : lines_of(render(hostile_view()))) {
    if (line.starts_with('#')) continue;
    EXPECT_TRUE(seen.insert(series_of(line)).second) << line;
  }
}

TEST(PrometheusText, BucketsAreCumulativeAndEndInTheCount) {
  std::uint64_t last = 0;
  for (const std::string& line : lines_of(render(hostile_view()))) {
    if (line.find("_bucket{") != std::string::npos) {
      const std::uint64_t value = std::stoull(value_of(line));
      EXPECT_GE(value, last) << line;
      last = value;
    } else if (line.find("_count{") != std::string::npos) {
      EXPECT_EQ(std::stoull(value_of(line)), last) << line;
      last = 0;
    }
  }
}

TEST(PrometheusText, AValueEqualToABoundBelongsToIt) {
  const std::string text = render(view_with(histogram_of({1'000'000'000, 1'000'000'001})));
  EXPECT_THAT(text, HasSubstr("reason=\"disk\",le=\"0.5\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("reason=\"disk\",le=\"1\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("reason=\"disk\",le=\"2\"} 2\n"));
}

TEST(PrometheusText, WaitsAboveTheLastBoundCountOnlyInInfinity) {
  const std::string text = render(view_with(histogram_of({864'000'000'000'000U})));
  EXPECT_THAT(text, HasSubstr("le=\"128\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("le=\"+Inf\"} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("offcpud_blocked_seconds_sum{cgroup=\"/a\",reason=\"disk\"} 864000\n"));
}

TEST(PrometheusText, FourteenBucketsAreEverySecondOfTwentyEight) {
  const auto counted = [](const std::string& text) {
    std::map<std::string, std::string> values;
    for (const std::string& line : lines_of(text)) values[series_of(line)] = value_of(line);
    return values;
  };
  const auto fine = counted(render(hostile_view(), 28));
  const auto coarse = counted(render(hostile_view(), 14));
  EXPECT_EQ(fine.size() - coarse.size(), 11U * 14);
  for (const auto& [series, value] : coarse) {
    ASSERT_TRUE(fine.contains(series)) << series;
    EXPECT_EQ(fine.at(series), value) << series;
  }
}

TEST(PrometheusText, ASubjectWithoutEpisodesHasOnlyRunningTime) {
  const std::string text = render(view_with(nullptr));
  EXPECT_THAT(text, Not(HasSubstr("\noffcpud_blocked_seconds")));
  EXPECT_THAT(text, HasSubstr("offcpud_running_seconds_total{cgroup=\"/a\"} 0\n"));
}

// While a long wait is in progress, so that its end is an increase.
TEST(PrometheusText, AHistogramMayBeAtZero) {
  const std::string text = render(view_with(std::make_shared<const LatencyHistogram>()));
  EXPECT_THAT(
      text,
      HasSubstr("offcpud_blocked_seconds_bucket{cgroup=\"/a\",reason=\"disk\",le=\"+Inf\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_blocked_seconds_sum{cgroup=\"/a\",reason=\"disk\"} 0\n"));
}

TEST(PrometheusText, AnEmptyViewStillHasItsTotals) {
  const std::string text = render(std::make_shared<const View>());
  EXPECT_THAT(text, HasSubstr("\noffcpud_series 0\n"));
  EXPECT_THAT(text, HasSubstr("\noffcpud_last_pass_timestamp_seconds 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("offcpud_map_entries")));
}

TEST(PrometheusText, BeforeTheFirstWalkThereAreNoGauges) {
  const std::string text = render(view_with(histogram_of({1})));
  EXPECT_THAT(text, HasSubstr("offcpud_wakeups_total{cgroup=\"/a\",from=\"interrupt\"} 0\n"));
  for (const char* gauge :
       {"offcpud_blocked_threads", "offcpud_oldest_blocked_seconds", "offcpud_stalled_threads",
        "offcpud_oldest_runnable_seconds", "offcpud_unaccounted_ratio",
        "offcpud_running_deviation_ratio", "offcpud_thread_walk_passes", "offcpud_process_"}) {
    EXPECT_THAT(text, Not(HasSubstr(std::string("\n") + gauge)));
  }
}

std::shared_ptr<const View> view_with(WaitsInProgress waits,
                                      const std::shared_ptr<const LatencyHistogram>& disk) {
  auto view = std::make_shared<View>(*view_with(disk));
  view->stall_bounds = {std::chrono::seconds(1), std::chrono::minutes(1)};
  view->subjects.front().in_progress = std::make_shared<const WaitsInProgress>(waits);
  return view;
}

TEST(PrometheusText, AReasonKeepsItsGaugesWhenNobodyIsBlockedAnyMore) {
  const std::string text = render(view_with(WaitsInProgress{}, histogram_of({1})));
  EXPECT_THAT(text, HasSubstr("offcpud_blocked_threads{cgroup=\"/a\",reason=\"disk\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_oldest_blocked_seconds{cgroup=\"/a\",reason=\"disk\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("stalled_threads{cgroup=\"/a\",reason=\"disk\",over=\"60s\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("reason=\"lock\"")));
}

TEST(PrometheusText, ABlockInProgressShowsBeforeAnyHasEnded) {
  WaitsInProgress waits;
  waits.blocked[OFFCPUD_BLOCKED_LOCK] = {
      .threads = 3, .oldest = {1'000'000'001}, .stalled = {1, 0}};
  const std::string text = render(view_with(waits, nullptr));
  EXPECT_THAT(text, HasSubstr("offcpud_blocked_threads{cgroup=\"/a\",reason=\"lock\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("reason=\"lock\"} 1.000000001\n"));
  EXPECT_THAT(text, HasSubstr("reason=\"lock\",over=\"1s\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("reason=\"lock\",over=\"60s\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("\noffcpud_blocked_seconds")));
}

std::vector<std::string> process_lines(std::vector<ProcessRow> rows) {
  auto view = std::make_shared<View>();
  for (ProcessRow& row : rows) {
    row.oldest_blocked[OFFCPUD_BLOCKED_DISK].ns = 1'000'000'000;
  }
  view->processes = std::move(rows);
  std::vector<std::string> lines;
  for (const std::string& line : lines_of(render(view))) {
    if (line.starts_with("offcpud_process_")) lines.push_back(line);
  }
  return lines;
}

ProcessRow exported_process(std::uint32_t pid, std::string comm) {
  ProcessRow row;
  row.pid = pid;
  row.comm = std::move(comm);
  row.labels = test::subject_of("/a").labels;
  row.exported = true;
  return row;
}

TEST(PrometheusText, ProcessesAreInTheOrderOfTheirPidsWhateverTheyWait) {
  const std::vector<std::string> lines = process_lines(
      {exported_process(30, "c"), exported_process(4, "a"), exported_process(200, "b")});
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[0], HasSubstr("pid=\"4\",comm=\"a\",cgroup=\"/a\",reason=\"disk\"} 1"));
  EXPECT_THAT(lines[1], HasSubstr("pid=\"30\""));
  EXPECT_THAT(lines[2], HasSubstr("pid=\"200\""));
}

TEST(PrometheusText, APidNamesOneProcess) {
  ProcessRow earlier = exported_process(4, "same");
  ProcessRow later = exported_process(4, "same");
  earlier.start_ns = 1;
  later.start_ns = 2;
  later.labels = test::subject_of("/later").labels;
  const auto lines = process_lines({later, earlier, exported_process(0, "elsewhere")});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("cgroup=\"/later\""));
}

TEST(PrometheusText, CommsAreEscapedAndMadeValidUtf8) {
  const auto comm = [](const std::string& bytes) {
    const auto lines = process_lines({exported_process(4, bytes)});
    if (lines.size() != 1) return "lines: " + std::to_string(lines.size());
    const std::size_t begin = lines[0].find("comm=");
    return lines[0].substr(begin, lines[0].find(",cgroup=") - begin);
  };
  EXPECT_EQ(comm("kworker/0:1"), R"(comm="kworker/0:1")");
  EXPECT_EQ(comm("a\"b\\c\nd"), R"(comm="a\"b\\c\nd")");
  EXPECT_EQ(comm("\xff\xfe"), "comm=\"\ufffd\ufffd\"");
  EXPECT_EQ(comm("cut \xe4\xb8"), "comm=\"cut \ufffd\"");  // at 15 bytes, say
  EXPECT_THAT(process_lines({exported_process(4, "")}),
              ElementsAre(HasSubstr("{pid=\"4\",cgroup=\"/a\",")));  // an empty label is none
}

TEST(PrometheusText, SelfMetricsComeLast) {
  EXPECT_TRUE(render(hostile_view(), 28, "own_metric 1\n").ends_with("\nown_metric 1\n"));
}

}  // namespace
}  // namespace offcpud
