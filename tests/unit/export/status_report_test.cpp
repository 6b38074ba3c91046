// SPDX-License-Identifier: Apache-2.0
#include "export/status_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/export/golden.h"
#include "unit/export/view_fixture.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

StatusReport sample_report() {
  StatusReport report;
  report.version = "0.1.0";
  report.revision = "abc1234";
  report.kernel = "6.1.0-30-amd64";
  report.listen = "127.0.0.1:19435";
  report.uptime = 90s;
  report.features = {{"btf", true, "types of the running kernel"},
                     {"futex", false, "needs \"CAP_PERFMON\""}};
  report.last_pass = LastPass{2'500ms, 3ms};
  report.passes = 9;
  report.pass_failures = 1;
  report.config.files = {"/etc/offcpud/offcpud.yaml"};
  report.config.last_reload_successful = false;
  report.config.last_reload_error = "offcpud.yaml:3: unknown key 'lingre'";
  report.max_series = 4000;
  report.scrapes[0] = ScrapeCost{
      .series = 58, .samples = 2'000, .bytes = 123'456, .sent_bytes = 9'000, .duration = 1'500us};
  report.own_use =
      OwnUse{.resident_bytes = 12'345'678, .cpu_seconds = 1.5, .overhead_ratio = 0.0025};
  report.push = PushStatus{.url = "https://pyroscope.example/ingest",
                           .queued = 3,
                           .queued_bytes = 12'345,
                           .last_success = WallTime(1'700'000'000s),
                           .last_error = ""};
  const auto view = test::hostile_view();
  describe_view(report, *view, view->taken + 2'500ms);
  return report;
}

TEST(StatusReport, JsonIsRenderedAsRecorded) {
  test::expect_same_as_file("tests/data/golden/status.json", status_json(sample_report()));
}

TEST(StatusReport, SaysWhatAScrapeCosts) {
  CostByFormat costs;
  EXPECT_EQ(scrape_line(costs), "no scrape so far");
  costs[0] = ScrapeCost{.series = 58, .samples = 2'000, .bytes = 12'345'678};
  costs[1] = ScrapeCost{.series = 58, .samples = 60, .bytes = 1};
  EXPECT_EQ(scrape_line(costs),
            "a scrape of 58 series is 2000 samples in 12.4 MB as text, 60 samples in 0.1 MB as "
            "protobuf");
}

TEST(StatusReport, JsonSurvivesBytesThatAreNotUtf8) {
  StatusReport report = sample_report();
  report.config.last_reload_error = "bad \xff byte";
  EXPECT_THAT(status_json(report), HasSubstr("bad \uFFFD byte"));
}

TEST(StatusReport, BeforeTheFirstPassTheJsonSaysNull) {
  EXPECT_THAT(status_json(StatusReport{}), HasSubstr("\"last_pass\": null"));
}

TEST(StatusReport, LineNamesTheFiguresThatMatter) {
  StatusReport report = sample_report();
  const std::string figures = "4 cgroups, 5 series, 3 events lost, last pass 2 s ago";
  EXPECT_EQ(status_line(report), figures +
                                     "; running with the previous configuration: "
                                     "offcpud.yaml:3: unknown key 'lingre'");
  report.config.last_reload_successful = true;
  EXPECT_EQ(status_line(report), figures);
  EXPECT_EQ(status_line(StatusReport{}), "waiting for the first pass");
}

TEST(StatusReport, LineSaysWhySnapshotsAreNotPushed) {
  StatusReport report = sample_report();
  report.config.last_reload_successful = true;
  EXPECT_THAT(status_line(report), ::testing::EndsWith("last pass 2 s ago")) << "the last was sent";
  report.push->last_error = "no connection: Connection refused";
  EXPECT_THAT(status_line(report),
              HasSubstr("; 3 snapshots not pushed: no connection: Connection refused"));
  EXPECT_THAT(status_json(report), HasSubstr("\"last_error\": \"no connection"));
  report.push.reset();
  EXPECT_THAT(status_json(report), HasSubstr("\"push\": null"));
}

TEST(StatusReport, LineCountsAsPeopleDo) {
  StatusReport report;
  report.last_pass = LastPass{2s, 3ms};
  report.subjects = 1;
  report.series = 1;
  report.losses = {{"missed_switch", 1}};
  EXPECT_EQ(status_line(report), "1 cgroup, 1 series, 1 event lost, last pass 2 s ago");
}

}  // namespace
}  // namespace offcpud
