// SPDX-License-Identifier: Apache-2.0
#include "metrics/self_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>
#include <thread>
#include <vector>

#include "metrics/process_usage.h"
#include "offcpud.h"
#include "support/fake_clock.h"
#include "unit/metrics/view_fixture.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(SelfMetrics, BuildInfoIsOne) {
  const SelfMetrics metrics({"0.1.0", "abc", "6.1.0"});
  const std::string text = test::text_of(metrics);
  EXPECT_THAT(text, HasSubstr("# TYPE offcpud_build_info gauge"));
  EXPECT_THAT(text, HasSubstr("revision=\"abc\""));
  EXPECT_THAT(text, HasSubstr("\"} 1\n"));
}

TEST(SelfMetrics, AFailedReloadKeepsTheTimeOfTheLastSuccess) {
  SelfMetrics metrics({"0.1.0", "abc", "6.1.0"});
  metrics.set_config_reload(true, WallTime(1'000s));
  metrics.set_config_reload(false, WallTime(2'000s));
  EXPECT_THAT(test::text_of(metrics), HasSubstr("\noffcpud_config_last_reload_successful 0\n"));
  EXPECT_THAT(test::text_of(metrics),
              HasSubstr("\noffcpud_config_last_reload_success_timestamp_seconds 1000\n"));
}

TEST(SelfMetrics, TheCertificateExpiresOnlyWhereThereIsOne) {
  SelfMetrics metrics({"0.1.0", "abc", "6.1.0"});
  EXPECT_THAT(test::text_of(metrics), Not(HasSubstr("offcpud_web_certificate")));
  metrics.set_certificate_expiry(WallTime(1'000s));
  metrics.set_certificate_expiry(WallTime(3'000s));
  EXPECT_THAT(test::text_of(metrics),
              HasSubstr("\noffcpud_web_certificate_expiry_timestamp_seconds 3000\n"));
}

TEST(SelfMetrics, WhatStacksLackIsThereFromTheStartAndCounts) {
  SelfMetrics metrics({"0.1.0", "abc", "6.1.0"});
  for (const std::string_view what : kStackLossNames) {
    EXPECT_THAT(test::text_of(metrics), HasSubstr("offcpud_stack_sources_left_out_total{what=\"" +
                                                  std::string(what) + "\"} 0\n"));
  }
  StackLosses losses{};
  losses[static_cast<std::size_t>(StackLoss::Symbols)] = 3;
  metrics.set_stack_losses(losses);
  losses[static_cast<std::size_t>(StackLoss::Symbols)] = 5;
  losses[static_cast<std::size_t>(StackLoss::UnwindTable)] = 1;
  metrics.set_stack_losses(losses);
  const std::string text = test::text_of(metrics);
  EXPECT_THAT(text, HasSubstr("left_out_total{what=\"symbols\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("left_out_total{what=\"unwind_table\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("left_out_total{what=\"process\"} 0\n"));
}

TEST(SelfMetrics, AStageExistsFromTheStartAndCounts) {
  SelfMetrics metrics({"0.1.0", "abc", "6.1.0"});
  metrics.add_stage("read");
  EXPECT_THAT(test::text_of(metrics), HasSubstr("offcpud_pass_failures_total{stage=\"read\"} 0\n"));
  metrics.observe_pass("read", 2ms);
  metrics.count_pass_failure("read");
  const std::string text = test::text_of(metrics);
  EXPECT_THAT(text, HasSubstr("offcpud_pass_failures_total{stage=\"read\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_pass_duration_seconds_count{stage=\"read\"} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("offcpud_pass_duration_seconds_bucket{stage=\"read\",le=\"0.001\"} 0\n"));
  EXPECT_THAT(text,
              HasSubstr("offcpud_pass_duration_seconds_bucket{stage=\"read\",le=\"0.0025\"} 1\n"));
}

TEST(SelfMetrics, StallsOfEveryReasonThatIsNotIdleProneCountFromZero) {
  SelfMetrics metrics({"0.1.0", "abc", "6.1.0"});
  for (const char* reason : {"disk", "lock", "network", "pipe", "kernel", "stopped", "other"}) {
    EXPECT_THAT(test::text_of(metrics),
                HasSubstr("offcpud_stalls_total{reason=\"" + std::string(reason) + "\"} 0\n"));
  }
  EXPECT_THAT(test::text_of(metrics), Not(HasSubstr("reason=\"poll\"")));
  metrics.count_stall(OFFCPUD_BLOCKED_DISK);
  metrics.count_stall(OFFCPUD_BLOCKED_DISK);
  metrics.count_stall(OFFCPUD_BLOCKED_POLL);  // a rule names it
  EXPECT_THAT(test::text_of(metrics), HasSubstr("offcpud_stalls_total{reason=\"disk\"} 2\n"));
  EXPECT_THAT(test::text_of(metrics), HasSubstr("offcpud_stalls_total{reason=\"poll\"} 1\n"));
}

TEST(SelfMetrics, StallsThatAreNoneAndThoseBeyondTheLimitAreTold) {
  SelfMetrics metrics({"0.1.0", "abc", "6.1.0"});
  EXPECT_THAT(test::text_of(metrics),
              HasSubstr("offcpud_stalls_taken_back_total{reason=\"lock\"} 0\n"));
  EXPECT_THAT(test::text_of(metrics), HasSubstr("offcpud_stalls_beyond_limit 0\n"));
  metrics.count_stall(OFFCPUD_BLOCKED_LOCK);
  metrics.count_stall_taken_back(OFFCPUD_BLOCKED_LOCK);
  metrics.set_stalls_beyond_limit(5);
  const std::string text = test::text_of(metrics);
  EXPECT_THAT(text, HasSubstr("offcpud_stalls_total{reason=\"lock\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_stalls_taken_back_total{reason=\"lock\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_stalls_beyond_limit 5\n"));
}

TEST(SelfMetrics, SnapshotsCountFromZeroAndHaveATimeOnceThereIsOne) {
  SelfMetrics metrics({"0.1.0", "abc", "6.1.0"});
  for (const std::string_view cause : kSnapshotFailureNames) {
    EXPECT_THAT(test::text_of(metrics), HasSubstr("offcpud_snapshot_failures_total{cause=\"" +
                                                  std::string(cause) + "\"} 0\n"));
  }
  EXPECT_THAT(test::text_of(metrics), HasSubstr("\noffcpud_snapshots_written_total 0\n"));
  EXPECT_THAT(test::text_of(metrics), Not(HasSubstr("\noffcpud_last_snapshot_timestamp_seconds ")));
  metrics.count_snapshot_written(WallTime(1'000s));
  metrics.count_snapshot_failure(SnapshotFailure::DiskFull);
  metrics.set_snapshot_bytes(4'096);
  const std::string text = test::text_of(metrics);
  EXPECT_THAT(text, HasSubstr("\noffcpud_snapshots_written_total 1\n"));
  EXPECT_THAT(text, HasSubstr("\noffcpud_last_snapshot_timestamp_seconds 1000\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_snapshot_failures_total{cause=\"disk_full\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\noffcpud_snapshot_bytes 4096\n"));
}

TEST(SelfMetrics, PushesCountFromZeroAndHaveATimeOnceOneWasSent) {
  SelfMetrics metrics({"0.1.0", "abc", "6.1.0"});
  for (const std::string_view result : kPushResultNames) {
    EXPECT_THAT(test::text_of(metrics), HasSubstr("offcpud_push_snapshots_total{result=\"" +
                                                  std::string(result) + "\"} 0\n"));
  }
  for (const std::string_view cause : kPushFailureNames) {
    EXPECT_THAT(test::text_of(metrics),
                HasSubstr("offcpud_push_failures_total{cause=\"" + std::string(cause) + "\"} 0\n"));
  }
  metrics.count_push(PushResult::Dropped, WallTime(900s));
  EXPECT_THAT(test::text_of(metrics),
              Not(HasSubstr("offcpud_push_last_success_timestamp_seconds ")));
  metrics.count_push(PushResult::Sent, WallTime(1'000s));
  metrics.count_push_failure(PushFailure::RateLimited);
  metrics.set_push_queue_bytes(4'096);
  const std::string text = test::text_of(metrics);
  EXPECT_THAT(text, HasSubstr("offcpud_push_snapshots_total{result=\"sent\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_push_snapshots_total{result=\"dropped\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_push_failures_total{cause=\"rate_limited\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\noffcpud_push_queue_bytes 4096\n"));
  EXPECT_THAT(text, HasSubstr("\noffcpud_push_last_success_timestamp_seconds 1000\n"));
}

TEST(SelfMetrics, ScrapesThatAreNotCompressedCountFromZero) {
  SelfMetrics metrics({"0.1.0", "abc", "6.1.0"});
  metrics.count_scrape_not_compressed(GzipRefusal::Peer);
  const std::string text = test::text_of(metrics);
  EXPECT_THAT(text, HasSubstr("offcpud_scrapes_not_compressed_total{cause=\"peer\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_scrapes_not_compressed_total{cause=\"all\"} 0\n"));
}

TEST(SelfMetrics, CostsOfProgramsAreTotals) {
  SelfMetrics metrics({"0.1.0", "abc", "6.1.0"});
  metrics.set_program_costs(std::vector<ProgramCost>{{"sched_switch", 2048, 1'500'000'000}});
  metrics.set_program_costs(std::vector<ProgramCost>{{"sched_switch", 4096, 2'500'000'000}});
  metrics.set_overhead(0.25);
  const std::string text = test::text_of(metrics);
  EXPECT_THAT(text, HasSubstr("offcpud_bpf_runs_total{program=\"sched_switch\"} 4096\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_bpf_run_seconds_total{program=\"sched_switch\"} 2.5\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_overhead_ratio 0.25\n"));
}

TEST(SelfMetrics, FeaturesCanBeTurnedOff) {
  SelfMetrics metrics({"0.1.0", "abc", "6.1.0"});
  metrics.set_feature("tp_btf", true);
  metrics.set_feature("tp_btf", false);
  EXPECT_THAT(test::text_of(metrics), HasSubstr("offcpud_feature_enabled{feature=\"tp_btf\"} 0\n"));
}

TEST(SelfMetrics, TellsOfTheDaemonsOwnThreads) {
  FakeClock clock;
  ThreadWatch threads(clock);
  const auto stacks = threads.add("stacks", {.stuck = 30s});
  const auto writer = threads.add("writer", {.stuck = 30s});
  writer->begin("writing a snapshot");
  clock.advance(31s);
  const SelfMetrics metrics({"0.1.0", "abc", "6.1.0"}, &threads);
  const std::string text = test::text_of(metrics);
  EXPECT_THAT(text, HasSubstr("offcpud_thread_busy_seconds{thread=\"stacks\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_thread_busy_seconds{thread=\"writer\"} 31\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_thread_stuck{thread=\"stacks\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_thread_stuck{thread=\"writer\"} 1\n"));
}

TEST(SelfMetrics, WithoutProcTheRestIsStillThere) {
  const SelfMetrics metrics({"0.1.0", "abc", "6.1.0"}, nullptr, "/nonexistent");
  EXPECT_THAT(test::text_of(metrics), HasSubstr("offcpud_build_info"));
  EXPECT_THAT(test::text_of(metrics), Not(HasSubstr("process_")));
}

TEST(SelfMetrics, ReadersAndTheWriterDoNotDisturbEachOther) {
  SelfMetrics metrics({"0.1.0", "abc", "6.1.0"});
  std::jthread reader([&metrics](const std::stop_token& stop) {
    while (!stop.stop_requested()) EXPECT_FALSE(test::text_of(metrics).empty());
  });
  for (int i = 0; i < 200; ++i) {
    metrics.observe_pass("read", 1ms);
    metrics.set_feature("feature" + std::to_string(i % 5), true);
  }
  reader.request_stop();
}

TEST(ProcessUsage, DescribesThisProcess) {
  const auto usage = read_process_usage("/proc");
  ASSERT_TRUE(usage) << usage.error().message();
  EXPECT_GT(usage->resident_bytes, 1U << 20);
  EXPECT_GE(usage->virtual_bytes, usage->resident_bytes);
  ASSERT_TRUE(usage->open_fds);
  EXPECT_GE(*usage->open_fds, 3U);
  EXPECT_GE(usage->max_fds, *usage->open_fds);
  const auto now = static_cast<double>(std::time(nullptr));
  EXPECT_LE(usage->start_time_seconds, now + 2);
  EXPECT_GT(usage->start_time_seconds, now - 86'400);
}

}  // namespace
}  // namespace offcpud
