// SPDX-License-Identifier: Apache-2.0
#include "api/units_json.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/site_history.h"
#include "pipeline/wait_history.h"
#include "pipeline/waited_on.h"
#include "support/thread_walks.h"
#include "support/times.h"
#include "unit/api/units_of.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::kNow;
using test::kSecond;
using test::units_of;
using test::waits;

SubjectSeries row(const std::string& cgroup) {
  SubjectSeries row;
  row.labels = std::make_shared<const SubjectLabels>(labels_of_cgroup(cgroup));
  return row;
}

void set_open(SubjectSeries& row, std::size_t kind, OpenWaits open, std::uint64_t oldest_ns) {
  auto in_progress = std::make_shared<WaitsInProgress>();
  in_progress->open[kind] = open;
  if (kind < OFFCPUD_BLOCKED_KINDS) {
    in_progress->blocked[kind] = {.threads = open.threads, .oldest = {oldest_ns}};
  }
  row.in_progress = std::move(in_progress);
}

// Two steps of 10 s: a database that waited for the disk in the second, a service that idles, and
// kernel threads.
class UnitsJson : public ::testing::Test {
 protected:
  UnitsJson() {
    WaitHistory history;
    view_.taken = MonotonicTime(100s);
    SubjectSeries database = row("/system.slice/db.service");
    SubjectSeries idle = row("/system.slice/idle.service");
    SubjectSeries kernel = row("/");
    set_open(kernel, OFFCPUD_BLOCKED_KERNEL, {.threads = 9, .uncounted = 9, .for_work = 9}, 0);
    set_open(idle, OFFCPUD_BLOCKED_POLL, {.threads = 1, .uncounted = 1}, 500 * kSecond);
    for (int step = 0; step < 3; ++step) {
      if (step == 2) {
        database.histograms[OFFCPUD_BLOCKED_DISK] = waits({0.1, 0.1, 0.1, 2});
        database.histograms[OFFCPUD_RUNQ_PREEMPTED] = waits({0.5});
        database.running_ns = 5 * kSecond;
        set_open(database, OFFCPUD_BLOCKED_LOCK, {.counted_ns = 4 * kSecond, .threads = 1},
                 4 * kSecond);
      }
      view_.subjects = {kernel, database, idle};
      view_.history = history.record(view_);
      view_.taken += 10s;
    }
  }

  View view_;
};

TEST_F(UnitsJson, UnitsComeByActionableWait) {
  const json units = units_of(view_);
  EXPECT_DOUBLE_EQ(units["window_seconds"], 20);
  ASSERT_EQ(units["units"].size(), 3U);
  const json& database = units["units"][0];
  EXPECT_EQ(database["unit"], "db.service");
  EXPECT_DOUBLE_EQ(database["actionable"], (2.3 + 0.5 + 4) / 20);
  EXPECT_DOUBLE_EQ(database["idle"], 0);
  EXPECT_DOUBLE_EQ(database["running"], 0.25);
  EXPECT_DOUBLE_EQ(database["blocked"]["disk"]["waiting"], 2.3 / 20);
  EXPECT_DOUBLE_EQ(database["runqueue"]["preempted"]["waiting"], 0.5 / 20);
}

std::shared_ptr<const SiteWindow> site_window(std::chrono::seconds begin, double lock_s) {
  auto window = std::make_shared<SiteWindow>();
  window->begin = MonotonicTime(begin);
  window->end = MonotonicTime(begin + 10s);
  const auto add = [&](const char* cgroup, WaitFor wait_for, const char* site, double s) {
    window->sites.push_back({.cgroup = std::make_shared<const std::string>(cgroup),
                             .site = std::make_shared<const std::string>(site),
                             .wait_for = wait_for,
                             .time = {.ns = s * 1e9, .variance_ns2 = 1e18},
                             .lasting = 1,
                             .oldest = {.ns = kSecond}});
  };
  add("/system.slice/db.service", WaitFor::Work, "", 5);
  add("/system.slice/idle.service", WaitFor::Lock, "mutex", lock_s);
  return window;
}

// The one that its reason calls idle waits for a lock.
TEST_F(UnitsJson, UnitsComeByWhatTheirWaitsAreFor) {
  view_.site_history = {site_window(70s, 0), site_window(80s, 20), site_window(90s, 40)};
  const json units = units_of(view_, {{"window", "20s"}});
  EXPECT_EQ(units["waits_window"], json::parse(R"({"seconds": 20.0, "age_seconds": 30.0})"));
  EXPECT_EQ(units["units"][0]["unit"], "idle.service");
  const json& waits = units["units"][0]["waits"];
  EXPECT_DOUBLE_EQ(waits["actionable"], 3);
  EXPECT_NEAR(waits["error"].get<double>(), 1.414 / 20, 1e-3);
  EXPECT_EQ(waits["sites"][0]["site"], "mutex");
  EXPECT_EQ(waits["sites"][0]["lasting"], 1) << "only of the last window";
  EXPECT_DOUBLE_EQ(units["units"][1]["waits"]["idle"], 0.5);
  EXPECT_DOUBLE_EQ(units["total"]["waits"]["actionable"], 3);
  const json of_locks = units_of(view_, {{"for", "lock"}});
  EXPECT_EQ(of_locks["matching"], 1);
  EXPECT_EQ(of_locks["units"][0]["unit"], "idle.service");
  EXPECT_EQ(units_of(view_, {{"for", "memory"}})["matching"], 0);
}

TEST_F(UnitsJson, SitesAreDetails) {
  view_.site_history = {site_window(90s, 40)};
  const json shown = json::parse(units_json(view_, *UnitQuery::parse({}, kNow), false));
  EXPECT_FALSE(shown["units"][0]["waits"].contains("sites"));
  EXPECT_FALSE(shown["total"]["waits"].contains("sites"));
  EXPECT_DOUBLE_EQ(shown["units"][0]["waits"]["for"]["lock"]["waiting"], 4);
}

// What lasts at the end of the window stands beside what it is for, whoever asks.
TEST_F(UnitsJson, WhatLastsIsToldByWhatItIsFor) {
  view_.site_history = {site_window(80s, 20), site_window(90s, 40)};
  const json shown = json::parse(units_json(view_, *UnitQuery::parse({}, kNow), false));
  const json& lock = shown["units"][0]["waits"]["for"]["lock"];
  EXPECT_EQ(lock["lasting"], 1) << "only of the last window";
  EXPECT_DOUBLE_EQ(lock["oldest_seconds"], 1);
  EXPECT_FALSE(shown["units"][0].contains("waited_on"));
}

// 98 short waits for a lock and two long ones, of which one ended in an earlier step.
TEST_F(UnitsJson, LengthsAreThoseOfWhatWaitsWereFor) {
  view_.site_history = {site_window(90s, 40)};
  SubjectSeries idle = row("/system.slice/idle.service");
  WaitHistory history;
  View view = view_;
  view.subjects = {idle};
  view.taken = MonotonicTime(80s);
  history.record(view);
  const auto ended = [&](const std::vector<double>& lengths) {
    auto histogram = std::make_shared<EstimatedHistogram>();
    *histogram += *waits(lengths);
    idle.waits[static_cast<std::size_t>(WaitFor::Lock)] = histogram;
    view.subjects = {idle};
    view.taken += 10s;
    view.history = history.record(view);
  };
  ended({4});
  std::vector<double> lengths(98, 0.125);
  lengths.insert(lengths.end(), {4, 2});
  ended(lengths);
  const json lock = units_of(view, {{"window", "10s"}})["units"][0]["waits"]["for"]["lock"];
  EXPECT_EQ(lock["ended"], 99);
  EXPECT_DOUBLE_EQ(lock["p50_seconds"][1], 0.125);
  EXPECT_DOUBLE_EQ(lock["p99_seconds"][1], 2);
  const json both = units_of(view, {{"window", "20s"}})["total"]["waits"]["for"]["lock"];
  EXPECT_EQ(both["ended"], 100);
}

std::shared_ptr<const PeerWindow> peer_window(std::chrono::seconds begin) {
  auto window = std::make_shared<PeerWindow>();
  window->begin = MonotonicTime(begin);
  window->end = MonotonicTime(begin + 10s);
  const auto add = [&](WaitFor wait_for, const char* on, double s) {
    window->rows.push_back({.cgroup = "/system.slice/idle.service",
                            .wait_for = wait_for,
                            .on = on,
                            .time = {.ns = s * 1e9}});
  };
  add(WaitFor::Lock, "db.service", 20);
  add(WaitFor::Lock, "(unknown)", 30);
  add(WaitFor::Work, "web.service", 40);
  add(WaitFor::Storage, "device:vda", 25);
  return window;
}

TEST_F(UnitsJson, WhomAUnitWaitedOnMostComesFirstAndNobodyIsNot) {
  view_.site_history = {site_window(90s, 40)};
  view_.peer_history = {peer_window(80s), peer_window(90s)};
  EXPECT_EQ(units_of(view_)["units"][0]["waited_on"], json::parse(R"([
      {"for": "storage", "on": "device:vda", "waiting": 2.5},
      {"for": "lock", "on": "db.service", "waiting": 2.0}])"));
  EXPECT_EQ(units_of(view_)["units"][1]["waited_on"], json::array());
}

// Windows of 10 s that begin at 3 s of a minute: each is in two steps.
TEST_F(UnitsJson, StepsBeginAtWholeTensOfTheClock) {
  view_.history.clear();
  view_.taken_wall = kNow + 5s;
  view_.taken = MonotonicTime(105s);
  view_.site_history = {site_window(83s, 20), site_window(93s, 40)};
  const json units = units_of(view_, {{"steps", "true"}});
  EXPECT_EQ(units["steps"],
            json::parse(R"({"end": "2026-11-20T12:00:10.000Z", "seconds": 10, "count": 60})"));
  const json& lock = units["total"]["steps"]["lock"];
  ASSERT_EQ(lock.size(), 60U);
  EXPECT_TRUE(lock[56].is_null()) << "nothing was examined then";
  EXPECT_DOUBLE_EQ(lock[57], 2);
  EXPECT_DOUBLE_EQ(lock[58], (0.3 * 20 + 0.7 * 40) / 10);
  EXPECT_DOUBLE_EQ(lock[59], 4) << "the mean over what is known of it";
  EXPECT_EQ(units["units"][0]["steps"]["lock"], lock);
  EXPECT_FALSE(units["total"]["steps"].contains("work"));
  EXPECT_FALSE(units_of(view_)["total"].contains("steps"));
}

TEST_F(UnitsJson, StepsHaveWaitsForACpuWithoutAnyStack) {
  view_.taken_wall = kNow;
  const json units = units_of(view_, {{"steps", "true"}});
  // Steps of 100 s to 120 s; the database waited 0.5 s of the second.
  const json& cpu = units["total"]["steps"]["cpu"];
  EXPECT_TRUE(cpu[56].is_null());
  EXPECT_DOUBLE_EQ(cpu[57], 0);
  EXPECT_DOUBLE_EQ(cpu[58], 0.05);
  EXPECT_EQ(units["total"]["steps"].size(), 1U);
}

TEST_F(UnitsJson, PercentilesAreTheBoundsOfTheSlotThatHoldsThem) {
  const json disk = units_of(view_)["units"][0]["blocked"]["disk"];
  EXPECT_EQ(disk["ended"], 4);
  const double p50 = 0.1, p99 = 2;
  EXPECT_LT(disk["p50_seconds"][0], p50);
  EXPECT_GE(disk["p50_seconds"][1], p50);
  EXPECT_NEAR(disk["p50_seconds"][1].get<double>() / disk["p50_seconds"][0].get<double>(), 1.19,
              0.01);
  EXPECT_LT(disk["p99_seconds"][0], p99);
  EXPECT_DOUBLE_EQ(disk["p99_seconds"][1], p99);
}

TEST_F(UnitsJson, AWaitInProgressHasNoPercentileButAnAge) {
  const json lock = units_of(view_)["units"][0]["blocked"]["lock"];
  EXPECT_EQ(lock["ended"], 0);
  EXPECT_TRUE(lock["p99_seconds"].is_null());
  EXPECT_EQ(lock["threads"], 1);
  EXPECT_DOUBLE_EQ(lock["oldest_seconds"], 4);
  EXPECT_EQ(lock["oldest_estimated"], false);
}

TEST_F(UnitsJson, BoundsThatAreNotThereAreZeroAndNull) {
  WaitHistory history;
  View view;
  SubjectSeries a = row("/a");
  view.subjects = {a};
  history.record(view);
  a.histograms[OFFCPUD_BLOCKED_DISK] = waits({1e-9});
  a.histograms[OFFCPUD_BLOCKED_LOCK] = waits({1e6});
  view.subjects = {a};
  view.taken += 10s;
  view.history = history.record(view);
  const json blocked = units_of(view)["units"][0]["blocked"];
  EXPECT_EQ(blocked["disk"]["p50_seconds"][0], 0);
  EXPECT_EQ(blocked["lock"]["p50_seconds"], json::array({131072.0, nullptr}));
}

TEST_F(UnitsJson, IdleWaitsAndKernelThreadsWithoutWorkAreApart) {
  const json units = units_of(view_);
  std::map<std::string, json> by_cgroup;
  for (const json& unit : units["units"]) by_cgroup[unit["cgroup"]] = unit;
  EXPECT_DOUBLE_EQ(by_cgroup["/system.slice/idle.service"]["actionable"], 0);
  EXPECT_DOUBLE_EQ(by_cgroup["/system.slice/idle.service"]["idle"], 1);
  EXPECT_EQ(by_cgroup["/system.slice/idle.service"]["blocked"]["poll"]["actionable"], false);
  EXPECT_DOUBLE_EQ(by_cgroup["/"]["actionable"], 0);
  EXPECT_DOUBLE_EQ(by_cgroup["/"]["idle"], 9);
  EXPECT_EQ(by_cgroup["/"]["blocked"]["kernel"]["actionable"], false);
  EXPECT_DOUBLE_EQ(units["total"]["idle"], 1);
  EXPECT_FALSE(units["total"]["blocked"].contains("kernel"));
}

TEST_F(UnitsJson, TheWindowTakesWholeStepsUpToNow) {
  const json units = units_of(view_, {{"window", "5s"}});
  EXPECT_DOUBLE_EQ(units["window_seconds"], 10);
  EXPECT_DOUBLE_EQ(units["kept_seconds"], 20);
  EXPECT_DOUBLE_EQ(units["units"][0]["blocked"]["disk"]["waiting"], 0.23);
}

TEST_F(UnitsJson, HistoryHasEveryStep) {
  const json history = units_of(view_, {{"history", "true"}, {"limit", "0"}})["history"];
  ASSERT_EQ(history.size(), 2U);
  EXPECT_FALSE(history[0]["blocked"].contains("disk"));
  EXPECT_EQ(history[1]["blocked"]["disk"]["ended"], 4);
  EXPECT_DOUBLE_EQ(history[1]["seconds"], 10);
  EXPECT_DOUBLE_EQ(history[1]["blocked"]["poll"]["waiting"], 1);
  EXPECT_FALSE(history[1]["blocked"].contains("kernel")) << "these wait for work";
}

TEST_F(UnitsJson, ACgroupIsTakenWithOrWithoutWhatIsBelow) {
  EXPECT_EQ(units_of(view_, {{"cgroup", "/system.slice"}})["matching"], 2);
  EXPECT_EQ(units_of(view_, {{"cgroup", "/system.slice/"}})["matching"], 2);
  EXPECT_EQ(units_of(view_, {{"cgroup", "/system"}})["matching"], 0);
  EXPECT_EQ(units_of(view_, {{"cgroup", "/"}})["matching"], 3);
  EXPECT_EQ(units_of(view_, {{"cgroup", "/"}, {"below", "false"}})["matching"], 1);
  EXPECT_EQ(units_of(view_, {{"cgroup", "/system.slice"}, {"below", "false"}})["matching"], 0);
  const json one = units_of(view_, {{"limit", "1"}});
  EXPECT_EQ(one["matching"], 3);
  EXPECT_EQ(one["units"].size(), 1U);
}

TEST_F(UnitsJson, BeforeTheSecondPassThereIsNoWindow) {
  view_.history.clear();
  const json units = units_of(view_, {{"history", "true"}});
  EXPECT_EQ(units["window_seconds"], 0.0);
  EXPECT_EQ(units["total"]["actionable"], 0.0);
  EXPECT_EQ(units["history"], json::array());
}

TEST(UnitQuery, RefusesWhatItDoesNotKnow) {
  const auto refused = [](const std::string& name, const std::string& value) {
    const auto query = UnitQuery::parse({{name, value}}, kNow);
    return query ? "" : query.error().message();
  };
  EXPECT_NE(
      refused("windw", "5s")
          .find("use window, cgroup, below, for, limit, history, steps, lengths, usual or to"),
      std::string::npos);
  for (const char* value : {"", "5", "0s", "-5s", "5 s"}) {
    EXPECT_NE(refused("window", value).find("use a duration such as 60s"), std::string::npos)
        << value;
  }
  EXPECT_NE(refused("limit", "-1"), "");
  EXPECT_NE(refused("limit", "1x"), "");
  EXPECT_NE(refused("history", "yes"), "");
  EXPECT_NE(refused("below", "1"), "");
  EXPECT_NE(refused("cgroup", ""), "");
  EXPECT_NE(refused("lengths", "").find("use a path such as /system.slice"), std::string::npos);
  EXPECT_NE(refused("usual", "yes"), "");
  EXPECT_FALSE(UnitQuery::parse({{"limit", "1"}, {"limit", "2"}}, kNow));
}

}  // namespace
}  // namespace offcpud
