// SPDX-License-Identifier: Apache-2.0
#include "api/why_handler.h"

#include <gmock/gmock.h>

#include "pipeline/reading_source.h"
#include "unit/api/why_fixture.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::kSecond;
using test::WhyHandlerTest;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

TEST_F(WhyHandlerTest, WithoutAUnitItIsAboutTheHost) {
  const json answer = ask_json({{"window", "1min"}});
  ASSERT_THAT(answer["verdicts"], SizeIs(2));
  EXPECT_EQ(answer["verdicts"][0]["unit"], "db.service");
  EXPECT_NEAR(answer["verdicts"][0]["threads"].get<double>(), 4, 1e-9) << "of the last minute";
  EXPECT_EQ(answer["window_seconds"], 60);
  EXPECT_NEAR(answer["verdicts"][1]["threads"].get<double>(), 2, 1e-9) << "run queue";
}

// The minute before the last one: who waited then, on whom, and who had the CPU.
TEST_F(WhyHandlerTest, AnEarlierTimeIsAskedForByItsEnd) {
  const json answer = ask_json({{"window", "1min"}, {"to", "-1min"}});
  EXPECT_EQ(answer["taken"], "2026-11-20T11:59:00.000Z");
  ASSERT_THAT(answer["verdicts"], SizeIs(1)) << "web.service waited only later";
  EXPECT_NEAR(answer["verdicts"][0]["threads"].get<double>(), 1, 1e-9);
  EXPECT_EQ(ask({{"pid", "12"}, {"to", "-1min"}}).status, 400U);
  EXPECT_EQ(ask({{"to", "later"}}).status, 400U);
}

// The part of a cause by kind and name; null: there is none.
json part_of(const json& cause, const char* kind, const char* name) {
  for (const json& part : cause["parts"]) {
    if (part["kind"] == kind && (part["name"].is_null() || part["name"] == name)) return part;
  }
  return nullptr;
}

TEST_F(WhyHandlerTest, WhatOthersDidDuringTheWaitsIsBelowThem) {
  for (auto& window : view_.peer_history) {
    auto changed = std::make_shared<PeerWindow>(*window);
    changed->chains = {{.cgroup = "/system.slice/db.service/worker",
                        .wait_for = WaitFor::Lock,
                        .on = "audit.service",
                        .steps = {{WaitFor::Storage, "device:vda"}},
                        .end = ChainWaits::End::Waits,
                        .time = {.ns = 135.0 * test::kSecond}}};
    window = changed;
  }
  const json answer = ask_json({{"unit", "db.service"}, {"window", "1min"}});
  const json by = part_of(answer["units"][0]["causes"][0], "unit", "audit.service");
  ASSERT_EQ(by["parts"].size(), 2U);
  const json& waits = by["parts"][0];
  EXPECT_EQ(waits["for"], "storage");
  EXPECT_NEAR(waits["threads"].get<double>(), 0.75 * by["threads"].get<double>(), 1e-9);
  EXPECT_EQ(by["parts"][1]["kind"], "unknown") << "what was not followed";
  EXPECT_NEAR(by["parts"][1]["threads"].get<double>(), 0.25 * by["threads"].get<double>(), 1e-9);
  EXPECT_EQ(waits["parts"][0]["kind"], "device");
  EXPECT_EQ(waits["parts"][0]["name"], "vda");
  EXPECT_EQ(answer["verdicts"][0]["culprit"], "vda");
  EXPECT_NEAR(answer["verdicts"][0]["hops"][1]["share"].get<double>(), 0.75, 1e-9);
}

// db.service waits on the partition vda1, while others load its disk and another one.
class WhyOfDisksTest : public WhyHandlerTest {
 protected:
  void wait_on_partition();
  void load_disks();
};

void WhyOfDisksTest::wait_on_partition() {
  for (auto& window : view_.peer_history) {
    auto changed = std::make_shared<PeerWindow>(*window);
    changed->rows = {{.cgroup = "/system.slice/db.service/worker",
                      .wait_for = WaitFor::Lock,
                      .on = "device:vda1",
                      .time = {.ns = 240.0 * test::kSecond}}};
    window = changed;
  }
}

void WhyOfDisksTest::load_disks() {
  const auto row = [](const char* disk, const char* cgroup, std::uint64_t bytes,
                      std::uint64_t seconds) {
    return DiskLoadRow{.disk = disk,
                       .by = std::make_shared<const SubjectLabels>(labels_of_cgroup(cgroup)),
                       .load = {.bytes = {bytes, 2 * bytes, bytes},
                                .requests = {5, 10, 5},
                                .request_ns = seconds * test::kSecond}};
  };
  auto old = std::make_shared<DiskLoadStep>();
  old->begin = view_.taken - 100s;
  old->end = view_.taken - 10s;
  old->rows = {row("vda", "/system.slice/db.service", 9'000'000'000, 900)};
  auto step = std::make_shared<DiskLoadStep>();
  step->begin = view_.taken - 10s;
  step->end = view_.taken;
  step->rows = {row("vda", "/batch.slice/backup.service", 100'000'000, 20),
                row("vda", "/batch.slice/backup.service/sub", 100'000'000, 16),
                row("vda", "(kernel)", 1'000'000, 3),
                row("vda", "/system.slice/db.service/worker", 1'000'000, 1),
                row("vdb", "/batch.slice/other.service", 900'000'000, 500)};
  view_.disk_load_steps = {old, step};
  view_.disk_loads = std::make_shared<const std::vector<DiskLoadRow>>(step->rows);
  view_.disks = std::make_shared<const DisksOfDevices>(DisksOfDevices{{"vda1", {"vda"}}});
}

// Waits are on the partition, requests go to the disk; another disk is not looked at, nor what was
// done before the window.
TEST_F(WhyOfDisksTest, WhoLoadsTheDiskOfAPartitionIsNamed) {
  wait_on_partition();
  EXPECT_THAT(ask_json({{"unit", "db.service"}})["verdicts"][0]["sentence"].get<std::string>(),
              HasSubstr("on device vda1; who loads it is unknown, because nobody counts that"));
  load_disks();
  const json answer = ask_json({{"unit", "db.service"}, {"window", "10s"}});
  EXPECT_THAT(
      answer["verdicts"][0]["sentence"].get<std::string>(),
      HasSubstr("on device vda1, which backup.service loads (90 % of the time of the device's "
                "requests, 20 MB/s read, 60 MB/s written)"));
  EXPECT_EQ(answer["verdicts"][0]["culprit"], "backup.service");
  EXPECT_EQ(answer["verdicts"][0]["hops"][2]["does"], "loads");
  const json device = part_of(answer["units"][0]["causes"][0], "device", "vda1");
  ASSERT_EQ(device["load"]["by"].size(), 3U);
  EXPECT_EQ(device["load"]["share_of"], "time");
  EXPECT_NEAR(device["load"]["at_a_time"].get<double>(), 4, 1e-9);
  const json& backup = device["load"]["by"][0];
  EXPECT_EQ(backup["kind"], "unit");
  EXPECT_EQ(backup["unit"], "backup.service");
  EXPECT_NEAR(backup["written_bytes_per_second"].get<double>(), 60e6, 1e-3) << "and discarded";
  EXPECT_NEAR(backup["requests_per_second"].get<double>(), 4, 1e-9);
  EXPECT_EQ(device["load"]["by"][1]["kind"], "kernel");
  EXPECT_EQ(device["load"]["by"][2]["own"], true);
  EXPECT_TRUE(device["parts"].empty()) << "it is no part of the wait";
  EXPECT_THAT(
      test::body_of(ask({{"unit", "db.service"}, {"window", "10s"}, {"format", "text"}})),
      HasSubstr(
          " loaded by backup.service (90 % of the time of the device's requests, 20 MB/s read, "
          "60 MB/s written); the kernel (7.5 %"));
  EXPECT_EQ(ask_json({{"unit", "db.service"}}, false).dump().find("backup"), std::string::npos)
      << "whom a unit waits on is a detail";
}

TEST_F(WhyOfDisksTest, OfATimeThatIsOverItIsSaidThatLoadsAreNotKept) {
  wait_on_partition();
  load_disks();
  const json answer = ask_json({{"unit", "db.service"}, {"window", "1min"}, {"to", "-1min"}});
  EXPECT_THAT(answer["verdicts"][0]["sentence"].get<std::string>(),
              HasSubstr("on device vda1; who loads it is unknown, because loads of disks are not "
                        "kept for a time that is over"));
  EXPECT_EQ(answer["sources"]["loads"]["missing"],
            "loads of disks are not kept for a time that is over");
}

TEST_F(WhyHandlerTest, WhoHoldsALockIsNamedWithWhatItDoes) {
  holder_waits(WaitFor::Storage, "fsync");
  const json answer = ask_json({{"unit", "db.service"}, {"window", "1min"}});
  const json by = part_of(answer["units"][0]["causes"][0], "unit", "audit.service");
  EXPECT_EQ(by["holder"], json::parse(R"({"lock": "a mutex of the kernel", "by": "audit.service",
      "process": "auditor", "pid": 77, "thread": "writer", "tid": 500, "waiting": 1,
      "does": "waits", "does_seconds": null, "does_estimated": false})"));
  EXPECT_THAT(answer["verdicts"][0]["sentence"].get<std::string>(),
              HasSubstr("for a lock (row-lock, mutex of the kernel) that thread writer (tid 500 of "
                        "auditor, pid 77) of audit.service holds; that thread waits for storage "
                        "(fsync)"));
  const json without = ask_json({{"unit", "db.service"}, {"window", "1min"}}, false);
  EXPECT_EQ(without.dump().find("writer"), std::string::npos) << "it is a detail";
}

// The walk is newer than the window.
TEST_F(WhyHandlerTest, AHolderIsToldWithSinceWhenItDoesThat) {
  holder_waits(WaitFor::Storage, "fsync");
  const auto told = [this](const offcpud_thread& thread) {
    auto walk = std::make_shared<ThreadWalk>();
    walk->threads = {thread};
    view_.walk = walk;
    const json answer = ask_json({{"unit", "db.service"}, {"window", "1min"}});
    json by = part_of(answer["units"][0]["causes"][0], "unit", "audit.service")["holder"];
    by["sentence"] = answer["verdicts"][0]["sentence"];
    return by;
  };
  offcpud_thread thread{.now_ns = 12 * kSecond + 1,
                        .since_ns = 1,
                        .tid = 500,
                        .tgid = 77,
                        .state = OFFCPUD_THREAD_BLOCKED};
  EXPECT_EQ(told(thread)["does_seconds"], 12.0);
  EXPECT_EQ(told(thread)["does_estimated"], false);
  EXPECT_THAT(told(thread)["sentence"].get<std::string>(),
              HasSubstr("; that thread waits, for 12 s now, for storage (fsync)"));
  thread.since_ns = 2;
  EXPECT_TRUE(told(thread)["does_seconds"].is_null()) << "it has run since the window ended";
  thread.flags = OFFCPUD_THREAD_ESTIMATED;
  EXPECT_TRUE(told(thread)["does_seconds"].is_null()) << "the window saw the block begin";
  WaitWindow window = *view_.waits;
  window.blocks.front().censored = true;
  view_.waits = std::make_shared<const WaitWindow>(window);
  EXPECT_EQ(told(thread)["does_estimated"], true);
  EXPECT_THAT(told(thread)["sentence"].get<std::string>(), HasSubstr(", for ~12 s now,"));
  window.blocks.clear();
  view_.waits = std::make_shared<const WaitWindow>(window);
  thread = {.now_ns = 12 * kSecond,
            .since_ns = 11 * kSecond,
            .awake_ns = 9 * kSecond,
            .tid = 500,
            .tgid = 77,
            .state = OFFCPUD_THREAD_RUNNABLE};
  EXPECT_EQ(told(thread)["does"], "runs");
  EXPECT_EQ(told(thread)["does_seconds"], 3.0);
  thread.awake_ns = 0;
  EXPECT_TRUE(told(thread)["does_seconds"].is_null());
}

TEST_F(WhyHandlerTest, AHolderIsFollowedToItsPeer) {
  holder_waits(WaitFor::Answer, "http-client",
               {.pid = 77,
                .cgroup = "/system.slice/audit.service",
                .wait_for = WaitFor::Answer,
                .on = "rates.service",
                .peer_pid = 9,
                .peer_comm = "nginx",
                .time = {.ns = 1e9}});
  const json answer = ask_json({{"unit", "db.service"}, {"window", "1min"}});
  EXPECT_THAT(
      answer["verdicts"][0]["sentence"].get<std::string>(),
      HasSubstr("; that thread waits for an answer (http-client) of rates.service (nginx, pid 9)"));
}

// Until a second window has seen it, a circle is no deadlock.
TEST_F(WhyHandlerTest, ACircleOfHoldersIsPassedOnce) {
  holder_waits(WaitFor::Lock, "mutex");
  WaitWindow window = *view_.waits;
  HeldWait back = held(13);
  back.tid = 500;
  window.held.push_back(back);
  window.blocks.push_back(window.blocks.front());
  window.blocks.front().tid = 13;
  view_.waits = std::make_shared<const WaitWindow>(std::move(window));
  const json answer = ask_json({{"unit", "db.service"}, {"window", "1min"}});
  const std::string sentence = answer["verdicts"][0]["sentence"];
  std::size_t holders = 0;
  for (std::size_t at = 0; (at = sentence.find(" holds", at)) != std::string::npos; ++at) ++holders;
  EXPECT_EQ(holders, 2U) << sentence;
}

TEST_F(WhyHandlerTest, ADeadlockIsCalledOne) {
  hold();
  HeldWait back = held(13);
  back.tid = 500;
  view_.deadlocks = std::make_shared<const std::vector<Deadlock>>(
      std::vector<Deadlock>{{held(500), std::move(back)}});
  const json answer = ask_json({{"unit", "db.service"}, {"window", "1min"}});
  EXPECT_THAT(answer["verdicts"][0]["sentence"].get<std::string>(), HasSubstr("; a deadlock of "));
}

// Rows of the process alone.
TEST_F(WhyHandlerTest, AProcessHasTheHoldersOfItsOwnThreads) {
  hold();
  const json answer = ask_json({{"pid", "12"}});
  EXPECT_THAT(answer["verdicts"][0]["sentence"].get<std::string>(),
              HasSubstr("that thread writer (tid 500 of auditor, pid 77) of audit.service holds"));
}

TEST_F(WhyHandlerTest, WhomThreadsWaitOnIsThatOfTheWindow) {
  const json lock = ask_json({{"unit", "db.service"}, {"window", "1min"}})["units"][0]["causes"][0];
  EXPECT_NEAR(lock["threads"].get<double>(), 4, 1e-9);
  const json audit = part_of(lock, "unit", "audit.service");
  ASSERT_TRUE(audit.is_object()) << lock;
  EXPECT_NEAR(audit["threads"].get<double>(), 3, 1e-9);
  EXPECT_NEAR(audit["seconds"].get<double>(), 180, 1e-9);
  EXPECT_EQ(audit["process"], "auditor");
  EXPECT_EQ(audit["pid"], 77);
  EXPECT_NEAR(part_of(lock, "unit", "/jobs/nightly")["threads"].get<double>(), 0.6, 1e-9);
  EXPECT_NEAR(part_of(lock, "unknown", "")["threads"].get<double>(), 0.4, 1e-9);
}

TEST_F(WhyHandlerTest, WhoHadTheCpuIsToldToEverybody) {
  for (const bool details : {true, false}) {
    const json answer = ask_json({{"unit", "web.service"}}, details);
    EXPECT_EQ(answer["sources"]["takers"]["seconds"], 10);
    const json cpu = answer["units"][0]["causes"][0];
    EXPECT_EQ(cpu["for"], "cpu");
    EXPECT_NEAR(part_of(cpu, "unit", "batch.service")["threads"].get<double>(), 1.2, 1e-9);
    EXPECT_NEAR(part_of(cpu, "self", "web.service")["threads"].get<double>(), 0.3, 1e-9);
    double unknown = 0;
    for (const json& part : cpu["parts"]) {
      if (part["kind"] == "unknown") unknown += part["threads"].get<double>();
    }
    EXPECT_NEAR(unknown, 0.5, 1e-9) << "0.2 forgotten, 0.3 have not ended";
  }
}

TEST_F(WhyHandlerTest, WithoutTakersItSaysThatNobodyTells) {
  view_.subjects[1].kept_off = nullptr;
  const json answer = ask_json({{"unit", "web.service"}});
  EXPECT_EQ(answer["sources"]["takers"]["missing"], "nobody tells who had the CPU");
  EXPECT_EQ(part_of(answer["units"][0]["causes"][0], "unknown", "")["because"],
            "nobody tells who had the CPU");
}

TEST_F(WhyHandlerTest, AWindowOfOnesOwn) {
  EXPECT_EQ(ask_json({})["window_seconds"], 20);
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
  const json lock = answer["units"][0]["causes"][0];
  EXPECT_NEAR(part_of(lock, "unit", "audit.service")["threads"].get<double>(), 2.4, 1e-9);
  EXPECT_NEAR(part_of(lock, "unknown", "")["threads"].get<double>(), 0.6, 1e-9);
  for (const json& edge : answer["graph"]["edges"]) {
    EXPECT_NE(edge["from"], "postgres (pid 12)") << "its waits are those of its unit";
  }
  EXPECT_EQ(ask({{"pid", "13"}}).status, 404U);
  EXPECT_EQ(ask({{"pid", "12"}}, false).status, 403U);
}

// Of the same unit two processes wait for different things of one server; the window of a process
// is a sixth of that of its unit.
TEST_F(WhyHandlerTest, OfAProcessIsToldWhatOthersDidDuringItsOwnWaits) {
  WaitWindow window = *view_.waits;
  const auto chain = [](std::uint32_t pid, std::vector<ChainWaits::Step> steps, ChainEnd end,
                        double seconds) {
    return ChainWaits{.pid = pid,
                      .process_start_ns = 5,
                      .cgroup = {},
                      .wait_for = WaitFor::Lock,
                      .on = "audit.service",
                      .steps = std::move(steps),
                      .end = end,
                      .time = {.ns = seconds * test::kSecond, .variance_ns2 = 1e18}};
  };
  window.process_chains = {
      chain(12, {{WaitFor::Storage, "device:vda"}}, ChainEnd::Waits, 12),
      chain(12, {}, ChainEnd::Runs, 4),
      chain(99, {{WaitFor::Timer, "(nobody)"}}, ChainEnd::Waits, 20),
  };
  view_.waits = std::make_shared<const WaitWindow>(window);
  const json answer = ask_json({{"pid", "12"}, {"window", "1min"}});
  const json by = part_of(answer["units"][0]["causes"][0], "unit", "audit.service");
  EXPECT_NEAR(by["threads"].get<double>(), 2.4, 1e-9);
  ASSERT_EQ(by["parts"].size(), 3U) << by;
  EXPECT_EQ(by["parts"][0]["for"], "storage");
  EXPECT_NEAR(by["parts"][0]["threads"].get<double>(), 1.2, 1e-9);
  EXPECT_NEAR(by["parts"][0]["error"].get<double>(), 0.1, 1e-9) << "of 1 s in 10 s";
  EXPECT_EQ(by["parts"][1]["kind"], "runs");
  EXPECT_NEAR(by["parts"][1]["threads"].get<double>(), 0.4, 1e-9);
  EXPECT_EQ(by["parts"][2]["kind"], "unknown") << "2.4 threads wait, of which 1.6 were followed";
  EXPECT_NEAR(by["parts"][2]["threads"].get<double>(), 0.8, 1e-9);
  EXPECT_THAT(answer["verdicts"][0]["sentence"].get<std::string>(),
              HasSubstr("; 50 % of that time audit.service waits for storage on device vda"));
  EXPECT_TRUE(answer["sources"]["chains"]["missing"].is_null());
}

TEST_F(WhyHandlerTest, TellsWhoIsBusyWithOtherRequests) {
  WaitWindow window = *view_.waits;
  window.process_chains = {{.pid = 12,
                            .process_start_ns = 5,
                            .cgroup = {},
                            .wait_for = WaitFor::Lock,
                            .on = "audit.service",
                            .steps = {},
                            .end = ChainEnd::OnCpu,
                            .busy_after = 0,
                            .time = {.ns = 20 * test::kSecond}}};
  view_.waits = std::make_shared<const WaitWindow>(window);
  const json answer = ask_json({{"pid", "12"}, {"window", "1min"}});
  const json by = part_of(answer["units"][0]["causes"][0], "unit", "audit.service");
  const json busy = part_of(by, "busy", "audit.service");
  EXPECT_NEAR(busy["threads"].get<double>(), 2, 1e-9);
  EXPECT_EQ(busy["evidence"], "offcpuctl why audit.service");
  EXPECT_EQ(busy["parts"][0]["kind"], "runs");
  const json hop = answer["verdicts"][0]["hops"][1];
  EXPECT_EQ(hop["does"], "runs");
  EXPECT_EQ(hop["busy"], true);
  EXPECT_EQ(answer["verdicts"][0]["hops"][0]["busy"], false);
  EXPECT_THAT(test::body_of(ask({{"pid", "12"}, {"window", "1min"}, {"format", "text"}})),
              HasSubstr("audit.service is busy with other requests\n"));
}

TEST_F(WhyHandlerTest, AProcessWithoutRoomForChainsIsToldSo) {
  WaitWindow window = *view_.waits;
  window.unchained = 3;
  view_.waits = std::make_shared<const WaitWindow>(window);
  const json answer = ask_json({{"pid", "12"}});
  EXPECT_EQ(answer["sources"]["chains"]["missing"], "too many other processes waited longer");
  EXPECT_THAT(test::body_of(ask({{"pid", "12"}, {"format", "text"}})),
              HasSubstr("is not kept, because too many processes waited longer; of its unit: "
                        "offcpuctl why db.service\n"));
  EXPECT_TRUE(ask_json({{"unit", "db.service"}})["sources"]["chains"]["missing"].is_null());
}

// In windows of the last ten minutes, also before the one that is asked for.
TEST_F(WhyHandlerTest, WhoReleasedSuchLocksBeforeIsADetailOfALockWithoutHolder) {
  for (auto& window : view_.peer_history) {
    auto changed = std::make_shared<PeerWindow>(*window);
    ReleasedWaits row{.cgroup = "/system.slice/db.service/worker", .site = "row-lock"};
    row.kind = ReleasedWaits::By::Thread;
    row.by = "db.service";
    row.process = row.thread = "postgres";
    row.pid = row.tid = 77;
    row.add(1e9);
    row.add(1e9);
    changed->released = {row};
    changed->rows.clear();
    window = changed;
  }
  const json lock = ask_json({{"unit", "db.service"}, {"window", "1min"}})["units"][0]["causes"][0];
  EXPECT_EQ(lock["released_by"]["seen"], 4) << "of both windows";
  EXPECT_EQ(lock["released_by"]["by"][0]["pid"], 77);
  EXPECT_EQ(lock["released_by"]["by"][0]["own"], true);
  const std::string text =
      test::body_of(ask({{"unit", "db.service"}, {"window", "1min"}, {"format", "text"}}));
  EXPECT_THAT(text, HasSubstr("; usually released by postgres (pid 77) of the same unit (100 % "));
  EXPECT_THAT(text,
              HasSubstr("\n                            usually released by postgres (pid 77)"));
  const json without = ask_json({{"unit", "db.service"}, {"window", "1min"}}, false);
  EXPECT_TRUE(without["units"][0]["causes"][0]["released_by"].is_null()) << "it is a detail";
  hold();
  const json held = ask_json({{"unit", "db.service"}});
  EXPECT_TRUE(held["units"][0]["causes"][0].contains("released_by"));
}

TEST_F(WhyHandlerTest, WhoMayNotSeeDetailsSeesNeitherSitesNorCulprits) {
  const json answer = ask_json({{"window", "1min"}}, false);
  EXPECT_EQ(answer["details"], false);
  EXPECT_THAT(answer.dump(), Not(HasSubstr("row-lock")));
  EXPECT_THAT(answer.dump(), Not(HasSubstr("audit")));
  EXPECT_THAT(answer["verdicts"][0]["sentence"].get<std::string>(),
              HasSubstr("unknown, because this client may not see details"));
}

TEST_F(WhyHandlerTest, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(ask({{"unit", "a"}, {"pid", "1"}}).status, 400U);
  EXPECT_THAT(test::body_of(ask({{"window", "0s"}})), HasSubstr("a duration such as"));
  EXPECT_THAT(test::body_of(ask({{"pid", "x"}})), HasSubstr("a whole number"));
  EXPECT_EQ(ask({{"limt", "1"}}).status, 400U);
}

// Who asks at once is not told that something is wrong.
TEST_F(WhyHandlerTest, MomentsAfterTheStartItSaysWhenToAskAgain) {
  auto stalls = std::make_shared<StallList>();
  stalls->examines = true;
  view_.stalls = stalls;
  view_.site_history.clear();
  view_.waits = nullptr;
  const auto missing = [&] {
    return ask_json({})["sources"]["sites"]["missing"].get<std::string>();
  };
  view_.counting_since = view_.taken_wall - 7200ms;
  EXPECT_EQ(missing(), "the daemon started 7 s ago; ask again in 10 s");
  const std::string text = test::body_of(ask({{"unit", "db.service"}, {"format", "text"}}));
  EXPECT_THAT(text, ::testing::StartsWith("what threads wait for is not known yet: the daemon "
                                          "started 7 s ago; ask again in 10 s\n"));
  view_.counting_since = view_.taken_wall - 30s;
  EXPECT_THAT(missing(), ::testing::StartsWith("no stack was examined within the last minute"));
  view_.counting_since = {};
  EXPECT_THAT(missing(), ::testing::StartsWith("no stack was examined within the last minute"));
}

TEST_F(WhyHandlerTest, TextIsForPeople) {
  const Response response = ask({{"window", "1min"}, {"format", "text"}});
  EXPECT_EQ(response.content_type, "text/plain; charset=utf-8");
  EXPECT_THAT(test::body_of(response),
              ::testing::StartsWith(
                  "db.service (postgres, pid 12): 4.0 threads wait for a lock (row-lock) of "
                  "audit.service (auditor, pid 77); "));
}

}  // namespace
}  // namespace offcpud
