// SPDX-License-Identifier: Apache-2.0
#include "api/status_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/metrics/golden.h"
#include "unit/metrics/view_fixture.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

StatusReport sample_report() {
  StatusReport report;
  report.version = "0.1.0";
  report.revision = "abc1234";
  report.kernel = "6.1.0-30-amd64";
  report.host = "db-01";
  report.listen = "127.0.0.1:19435";
  report.local_socket = "unix:/run/offcpud/offcpud.sock";
  report.access = {.details = true, .addresses = false};
  report.uptime = 90s;
  report.features = {{"btf", true, "types of the running kernel"},
                     {"futex", false, "needs \"CAP_PERFMON\""}};
  report.last_pass = LastPass{2'500ms, 3ms};
  report.passes = 9;
  report.pass_failures = 1;
  report.config.files = {"/etc/offcpud/offcpud.yaml"};
  report.config.site_rules = 227;
  report.config.sites = 150;
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
  report.threads = {{.name = "main", .work = "adding up what was read", .busy = 3ms},
                    {.name = "writer",
                     .work = "writing a snapshot",
                     .busy = 75s,
                     .longest = 75s,
                     .limits = {.stuck = 60s},
                     .stuck = true},
                    {.name = "push"}};
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
  EXPECT_EQ(
      scrape_line(costs),
      "a scrape of 58 series is 2,000 samples in 12.3 MB as text, 60 samples in 1 B as protobuf");
}

TEST(StatusReport, TellsWhatWasSentOnlyIfSomebodyAsked) {
  StatusReport report = sample_report();
  EXPECT_THAT(status_json(report), HasSubstr("\"sent_bytes\": 9000"));
  report.scrapes[0]->sent_bytes.reset();
  EXPECT_THAT(status_json(report), Not(HasSubstr("sent_bytes")));
}

TEST(StatusReport, JsonSurvivesBytesThatAreNotUtf8) {
  StatusReport report = sample_report();
  report.config.last_reload_error = "bad \xff byte";
  EXPECT_THAT(status_json(report), HasSubstr("bad \\ufffd byte"));
}

TEST(StatusReport, JsonHasNothingThatATerminalObeys) {
  StatusReport report = sample_report();
  report.config.last_reload_error = "DEL \x7f CSI \u009b turned \u202e";
  EXPECT_THAT(status_json(report), HasSubstr("DEL \\u007f CSI \\u009b turned \\u202e"));
}

TEST(StatusReport, BeforeTheFirstPassTheJsonSaysNull) {
  EXPECT_THAT(status_json(StatusReport{}), HasSubstr("\"last_pass\": null"));
}

TEST(StatusReport, LineNamesTheFiguresThatMatter) {
  StatusReport report = sample_report();
  const std::string figures =
      "4 cgroups, 5 series, 3 events lost, last pass 2.5 s ago; thread writer has been writing a "
      "snapshot for 1 min 15 s";
  EXPECT_EQ(status_line(report), figures +
                                     "; running with the previous configuration: "
                                     "offcpud.yaml:3: unknown key 'lingre'");
  report.config.last_reload_successful = true;
  EXPECT_EQ(status_line(report), figures);
  EXPECT_EQ(status_line(StatusReport{}), "waiting for the first pass");
}

TEST(StatusReport, NamesWhoHasMoreMappingsThanHisShareToThoseWhoMaySeeIt) {
  StatusReport report = sample_report();
  report.over_share = {{.pid = 4711, .uid = 65534, .mappings = 8192}, {.pid = 12, .mappings = 600}};
  EXPECT_THAT(status_line(report), HasSubstr("; stacks of process 4711 and others"));
  EXPECT_THAT(status_json(report), HasSubstr("\"pid\": 4711,\n      \"uid\": 65534,\n"));
  EXPECT_THAT(status_json(report), HasSubstr("\"pid\": 12,\n      \"uid\": null,\n"));
  EXPECT_EQ(status_json(without_details(report)).find("4711"), std::string::npos);
}

TEST(StatusReport, LineSaysWhySnapshotsAreNotPushed) {
  StatusReport report = sample_report();
  report.config.last_reload_successful = true;
  EXPECT_THAT(status_line(report), ::testing::EndsWith("for 1 min 15 s")) << "the last was sent";
  report.push->last_error = "no connection: Connection refused";
  EXPECT_THAT(status_line(report),
              HasSubstr("; 3 snapshots not pushed: no connection: Connection refused"));
  EXPECT_THAT(status_json(report), HasSubstr("\"last_error\": \"no connection"));
  report.push.reset();
  EXPECT_THAT(status_json(report), HasSubstr("\"push\": null"));
}

TEST(StatusReport, SaysWhichThreadIsStuckAtWhat) {
  StatusReport report = sample_report();
  report.config.last_reload_successful = true;
  report.threads = {{.name = "main"},
                    {.name = "stacks",
                     .work = "walking",
                     .subject = "process 7",
                     .busy = 47s,
                     .longest = 47s,
                     .stuck = true}};
  EXPECT_THAT(status_line(report),
              ::testing::EndsWith("; thread stacks has been walking (process 7) for 47 s"));
  EXPECT_THAT(status_line(without_details(report)),
              ::testing::EndsWith("; thread stacks has been walking for 47 s"));
  EXPECT_THAT(status_json(report), HasSubstr("\"subject\": \"process 7\""));
  EXPECT_THAT(status_json(without_details(report)), Not(HasSubstr("process 7")));
}

TEST(StatusReport, LineCountsAsPeopleDo) {
  StatusReport report;
  report.last_pass = LastPass{2s, 3ms};
  report.subjects = 1;
  report.series = 1;
  report.losses = {{"missed_switch", 1}};
  EXPECT_EQ(status_line(report), "1 cgroup, 1 series, 1 event lost, last pass 2 s ago");
}

TEST(StatusReport, LineSaysOfHowManyEventsSomeWereLost) {
  StatusReport report;
  report.last_pass.emplace();
  const auto line_of = [&](std::uint64_t lost, std::uint64_t events) {
    report.losses = {{"missed_switch", lost}, {"sample_lost", 0}};
    report.events = events;
    return status_line(report);
  };
  EXPECT_THAT(line_of(1190, 40'123'456),
              HasSubstr(", 1,190 of 40 million events lost (0.003 %), "));
  EXPECT_THAT(line_of(1, 40'123'456), HasSubstr(", 1 of 40 million events lost (below 0.001 %), "));
  EXPECT_THAT(line_of(5, 12'345), HasSubstr(", 5 of 12 thousand events lost (0.041 %), "));
  EXPECT_THAT(line_of(47'540, 2'014'999),
              HasSubstr(", 47,540 of 2.0 million events lost (2.359 %), "));
  EXPECT_THAT(line_of(50, 100), HasSubstr(", 50 of 100 events lost (50.000 %), "));
  EXPECT_THAT(line_of(0, 40'123'456), HasSubstr(", 0 events lost, "));
  EXPECT_THAT(line_of(5, 4), HasSubstr(", 5 events lost, ")) << "the number is an estimate";
  report.losses = {{"missed_switch", 2}, {"takers_full", 50}};
  EXPECT_THAT(status_line(report), HasSubstr(", 2 of 4 events lost ")) << "none of 50 is missing";
}

TEST(StatusReport, LineSaysHowManyLossesComeOfAGuardedProcess1) {
  StatusReport report;
  report.last_pass.emplace();
  report.losses = {{"missed_switch", 1'500}, {"sample_lost", 3}};
  report.events = 100'000;
  EXPECT_THAT(status_line(report), Not(HasSubstr("guarded")));
  report.losses_of_guard = 1'500;
  EXPECT_THAT(status_line(report),
              HasSubstr(", 1,503 of 100 thousand events lost (1.503 %), 1,500 of them because "
                        "process 1 is guarded (docs/kernel-support.md), last pass "));
}

TEST(StatusReport, TakesTheEventsFromTheRunsOfThePrograms) {
  StatusReport report;
  View view;
  view.programs = {{"sched_switch", 3072, 1}, {"sched_wakeup", 1024, 1}};
  describe_view(report, view, {});
  describe_view(report, view, {});
  EXPECT_EQ(report.events, 4096U);
  EXPECT_THAT(status_json(report), HasSubstr("\"events\": 4096,"));
}

TEST(StatusReport, NamesTheSettingsThatWaitForARestart) {
  StatusReport report;
  report.last_pass.emplace();
  EXPECT_THAT(status_json(report), Not(HasSubstr("needs_restart")));
  report.config.needs_restart = {"listen"};
  EXPECT_THAT(status_line(report),
              ::testing::EndsWith("; 1 setting in the files that only a restart puts in force"));
  EXPECT_THAT(status_json(report), HasSubstr("\"needs_restart\": [\n      \"listen\"\n    ]"));
}

}  // namespace
}  // namespace offcpud
