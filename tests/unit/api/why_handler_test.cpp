// SPDX-License-Identifier: Apache-2.0
#include "api/why_handler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "pipeline/site_history.h"
#include "pipeline/stall.h"
#include "pipeline/taker.h"
#include "pipeline/wait_history.h"
#include "pipeline/waited_on.h"
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
    waits->peers = {{.pid = 12,
                     .process_start_ns = 5,
                     .cgroup = "/system.slice/db.service/worker",
                     .wait_for = WaitFor::Lock,
                     .on = "audit.service",
                     .peer_pid = 77,
                     .peer_comm = "auditor",
                     .time = {.ns = 24.0 * kSecond}}};
    view_.waits = waits;
    // In one window of the last minute and one before, 30 s each.
    for (int i = 2; i > 0; --i) {
      auto window = std::make_shared<PeerWindow>();
      window->begin = view_.taken - i * 60s;
      window->end = window->begin + 60s;
      window->rows = {{.cgroup = "/system.slice/db.service/worker",
                       .wait_for = WaitFor::Lock,
                       .on = "audit.service",
                       .time = {.ns = 180.0 * kSecond}},
                      {.cgroup = "/system.slice/db.service",
                       .wait_for = WaitFor::Lock,
                       .on = "/jobs/nightly",
                       .time = {.ns = 36.0 * kSecond}},
                      {.cgroup = "/system.slice/db.service",
                       .wait_for = WaitFor::Lock,
                       .on = "(unknown)",
                       .time = {.ns = 24.0 * kSecond}}};
      view_.peer_history.push_back(window);
    }
    add_takers(labels);
    ProcessRow process;
    process.pid = 12;
    process.start_ns = 5;
    process.comm = "postgres";
    process.labels = labels("/system.slice/db.service/worker");
    view_.processes.push_back(process);
  }

  // A thread of db.service waits for a lock in the kernel that this thread of audit.service holds.
  static HeldWait held(std::uint32_t holder) {
    LockHolder by{.kind = LockKind::KernelMutex, .tid = holder, .local_tid = holder};
    std::string_view("writer").copy(by.comm.data(), by.comm.size());
    by.process = {.tgid = 77, .local_tgid = 77};
    std::string_view("auditor").copy(by.process.comm.data(), by.process.comm.size());
    return {.tid = 13,
            .pid = 12,
            .since_ns = 5,
            .cgroup = "/system.slice/db.service/worker",
            .holder_cgroup = "/system.slice/audit.service",
            .holder = std::make_shared<const LockHolder>(by)};
  }
  void hold() {
    WaitWindow window = *view_.waits;
    window.held = {held(500)};
    view_.waits = std::make_shared<const WaitWindow>(std::move(window));
  }
  // The same, and what the holder waits for.
  void holder_waits(WaitFor wait_for, const std::string& site, const PeerWaits& on = {}) {
    hold();
    WaitWindow window = *view_.waits;
    auto wait = std::make_shared<ExaminedWait>();
    wait->wait_for = wait_for;
    wait->site = site;
    window.blocks = {{.tid = 500, .since_ns = 1, .lasts = true, .wait = wait}};
    if (!on.on.empty()) window.peers.push_back(on);
    view_.waits = std::make_shared<const WaitWindow>(std::move(window));
  }

  // web.service waited 20 s for a CPU in the last 10 s: 12 s by batch.service, 3 s by threads of
  // its own, 2 s by nobody knows whom; before, 100 s by batch.service.
  void add_takers(const auto& labels) {
    const auto takers = [&](std::vector<std::pair<const char*, std::uint64_t>> seconds) {
      auto kept_off = std::make_shared<KeptOff>();
      for (const auto& [by, each] : seconds)
        kept_off->takers.push_back({labels(by), each * kSecond});
      return kept_off;
    };
    auto step = std::make_shared<KeptOffStep>();
    step->taken = view_.taken - 10s;
    step->rows = {
        {labels("/system.slice/web.service"), takers({{"/batch.slice/batch.service", 100}})}};
    view_.kept_off_steps = {step};
    view_.subjects[1].kept_off = takers({{"(throttled)", 50},
                                         {"(unknown)", 2},
                                         {"/batch.slice/batch.service", 112},
                                         {"/system.slice/web.service", 3}});
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
                        .time = {.ns = 90.0 * kSecond}}};
    window = changed;
  }
  const json answer = ask_json({{"unit", "db.service"}, {"window", "1min"}});
  const json by = part_of(answer["units"][0]["causes"][0], "unit", "audit.service");
  ASSERT_EQ(by["parts"].size(), 1U);
  const json& waits = by["parts"][0];
  EXPECT_EQ(waits["for"], "storage");
  EXPECT_NEAR(waits["threads"].get<double>(), by["threads"].get<double>(), 1e-9)
      << "half of it was seen, and stands for all";
  EXPECT_EQ(waits["parts"][0]["kind"], "device");
  EXPECT_EQ(waits["parts"][0]["name"], "vda");
  EXPECT_EQ(answer["verdicts"][0]["culprit"], "vda");
  EXPECT_EQ(answer["verdicts"][0]["hops"][1]["share"], 1.0);
}

TEST_F(WhyHandlerTest, WhoHoldsALockIsNamedWithWhatItDoes) {
  holder_waits(WaitFor::Storage, "fsync");
  const json answer = ask_json({{"unit", "db.service"}, {"window", "1min"}});
  const json by = part_of(answer["units"][0]["causes"][0], "unit", "audit.service");
  EXPECT_EQ(by["holder"], json::parse(R"({"lock": "a mutex of the kernel", "by": "audit.service",
      "process": "auditor", "pid": 77, "thread": "writer", "tid": 500, "waiting": 1,
      "does": "waits"})"));
  EXPECT_THAT(answer["verdicts"][0]["sentence"].get<std::string>(),
              HasSubstr("a mutex of the kernel that thread writer (tid 500 of auditor, pid 77) of "
                        "audit.service holds; that thread waits for storage (fsync)"));
  const json without = ask_json({{"unit", "db.service"}, {"window", "1min"}}, false);
  EXPECT_EQ(without.dump().find("writer"), std::string::npos) << "it is a detail";
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

TEST_F(WhyHandlerTest, TextIsForPeople) {
  const Response response = ask({{"window", "1min"}, {"format", "text"}});
  EXPECT_EQ(response.content_type, "text/plain; charset=utf-8");
  EXPECT_THAT(test::body_of(response),
              ::testing::StartsWith("db.service: 4.0 threads wait for a lock (row-lock) of "
                                    "audit.service (auditor, pid 77); "));
}

}  // namespace
}  // namespace offcpud
