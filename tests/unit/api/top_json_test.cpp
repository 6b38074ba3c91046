// SPDX-License-Identifier: Apache-2.0
#include "api/top_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/thread_walks.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::kSecond;
using test::thread;
using ::testing::ElementsAre;

std::shared_ptr<const SubjectLabels> labels(const std::string& cgroup) {
  return std::make_shared<const SubjectLabels>(labels_of_cgroup(cgroup));
}

ProcessRow process(std::uint32_t pid, std::string comm, const std::string& cgroup) {
  ProcessRow row;
  row.pid = pid;
  row.start_ns = 40 * kSecond;
  row.comm = std::move(comm);
  row.labels = labels(cgroup);
  row.threads = 1;
  return row;
}

// A database that waits for the disk and for a CPU, and a service that idles.
View two_processes() {
  View view;
  view.taken = MonotonicTime(100s);
  view.taken_wall = WallTime(1'700'000'000s + 250ms);
  ProcessRow database = process(5, "postgres", "/system.slice/postgresql.service");
  database.threads = 2;
  database.exported = true;
  database.waited_ns[OFFCPUD_BLOCKED_DISK] = 4 * kSecond;
  database.waited_ns[OFFCPUD_BLOCKED_POLL] = 3 * kSecond;
  database.waited_ns[OFFCPUD_RUNQ_PREEMPTED] = kSecond / 2;
  database.actionable_ns = 4'500'000'000;
  database.running_ns = 2 * kSecond;
  database.ended = 9;
  database.p50_seconds = 0.25;
  database.p99_seconds = database.max_seconds = 2;
  database.oldest_blocked[OFFCPUD_BLOCKED_DISK] = {kSecond, true};
  database.oldest_blocked[OFFCPUD_BLOCKED_POLL] = {50 * kSecond};
  ProcessRow idle = process(6, "idle\x1b[2J", "/user.slice");
  idle.waited_ns[OFFCPUD_BLOCKED_POLL] = 10 * kSecond;
  idle.oldest_blocked[OFFCPUD_BLOCKED_POLL] = {90 * kSecond};
  view.processes = {database, idle};
  view.previous_walk = test::walk_at(90, {thread(5).running(89)});
  view.walk = test::walk_at(100, {thread(5).running(89)});
  return view;
}

json top_of(const View& view, const std::multimap<std::string, std::string>& parameters = {}) {
  const auto query = TopQuery::parse(parameters);
  if (!query) ADD_FAILURE() << query.error().message();
  return json::parse(top_json(view, query ? *query : TopQuery{}, 5s));
}

std::vector<int> pids(const json& list) {
  std::vector<int> pids;
  for (const json& row : list) pids.push_back(row.at("pid"));
  return pids;
}

TEST(TopJson, AProcessInFull) {
  const json top = top_of(two_processes());
  EXPECT_EQ(top.at("interval_seconds"), 10.0);
  EXPECT_EQ(top.at("taken"), "2023-11-14T22:13:20.250Z");
  EXPECT_EQ(top.at("matching"), 2);
  EXPECT_EQ(top.at("processes").at(0), json::parse(R"({
    "pid": 5, "start_time": "2023-11-14T22:12:15.250Z", "comm": "postgres",
    "cgroup": "/system.slice/postgresql.service", "unit": "postgresql.service", "threads": 2,
    "kernel_thread": false, "exported": true, "actionable_seconds": 4.5, "running_seconds": 2.0,
    "blocked_seconds": {"disk": 4.0, "poll": 3.0}, "runqueue_seconds": {"preempted": 0.5},
    "ended": 9, "p50_seconds": 0.25, "p99_seconds": 2.0, "max_seconds": 2.0,
    "oldest_blocked": {"reason": "disk", "seconds": 1.0, "estimated": true},
    "oldest_blocked_seconds": {"disk": 1.0, "poll": 50.0}, "waits": null,
    "ended_processes": 0})"));
  EXPECT_EQ(top.at("window"), nullptr) << "nothing was examined";
  EXPECT_EQ(top.at("processes").at(1).at("oldest_blocked"), nullptr);
  EXPECT_FALSE(top.at("processes").at(1).contains("unit"));
}

// Of two_processes(): the first waits for the disk a little, the second, whose reason is
// idle-prone, for a lock. A process that has ended waited for an answer.
View two_processes_for_something() {
  View view = two_processes();
  auto window = std::make_shared<WaitWindow>();
  window->begin_at = MonotonicTime(88s);
  window->end_at = MonotonicTime(98s);
  const auto add = [&](std::uint32_t pid, WaitFor wait_for, const char* site, WaitTime time,
                       std::uint32_t lasting = 0) {
    window->sites.push_back({.pid = pid,
                             .process_start_ns = 40 * kSecond,
                             .wait_for = wait_for,
                             .site = site,
                             .time = time,
                             .lasting = lasting,
                             .oldest = {.ns = lasting * kSecond}});
  };
  add(5, WaitFor::Storage, "fsync", {.ns = 4e9, .variance_ns2 = 1e16});
  add(5, WaitFor::Work, "loop", {.ns = 10e9});
  add(6, WaitFor::Lock, "row-lock", {.ns = 20e9}, 2);
  add(6, WaitFor::Lock, "mutex", {.ns = 30e9}, 3);
  add(6, WaitFor::Unknown, "", {.ns = 40e9});
  add(9, WaitFor::Answer, "socket", {.ns = 5e9});
  window->lost_ns = 3'600 * kSecond;  // whole: one block of an hour
  window->lost_within_ns = kSecond;
  view.waits = window;
  return view;
}

TEST(TopJson, RowsComeByWhatWaitsAreForNotByReason) {
  const json top = top_of(two_processes_for_something());
  EXPECT_THAT(pids(top.at("processes")), ElementsAre(6, 5));
  EXPECT_EQ(top.at("window"), json::parse(R"({"seconds": 10.0, "age_seconds": 2.0})"));
  EXPECT_EQ(top.at("processes").at(0).at("waits"), json::parse(R"({
    "actionable": 5.0, "error": 0.0, "children": 0.0, "idle": 0.0, "unknown": 4.0,
    "for": {"lock": {"waiting": 5.0, "error": 0.0, "lasting": 5, "oldest_seconds": 3.0,
                     "oldest_estimated": false},
            "unknown": {"waiting": 4.0, "error": 0.0, "lasting": 0, "oldest_seconds": null,
                        "oldest_estimated": false}},
    "sites": [
      {"for": "lock", "site": "mutex", "waiting": 3.0, "error": 0.0, "lasting": 3,
       "oldest_seconds": 3.0, "oldest_estimated": false},
      {"for": "lock", "site": "row-lock", "waiting": 2.0, "error": 0.0, "lasting": 2,
       "oldest_seconds": 2.0, "oldest_estimated": false},
      {"for": "unknown", "site": null, "waiting": 4.0, "error": 0.0, "lasting": 0,
       "oldest_seconds": null, "oldest_estimated": false}]})"));
  const json& database = top.at("processes").at(1).at("waits");
  EXPECT_DOUBLE_EQ(database.at("actionable"), 0.4);
  EXPECT_DOUBLE_EQ(database.at("error"), 0.01);
  EXPECT_DOUBLE_EQ(database.at("idle"), 1);
  const json& total = top.at("totals").at("waits");
  EXPECT_DOUBLE_EQ(total.at("actionable"), 5.9) << "also of processes that have ended";
  EXPECT_DOUBLE_EQ(total.at("unknown"), 4.1) << "also what was lost";
  EXPECT_THAT(pids(top_of(two_processes_for_something(), {{"sort", "actionable"}}).at("processes")),
              ElementsAre(5, 6))
      << "by reason";
}

// Clients that live for a second each: no walk finds most of them.
TEST(TopJson, ProcessesThatEndedAreOneRowForAllOfANameAndCgroup) {
  View view = two_processes_for_something();
  auto window = std::make_shared<WaitWindow>(*view.waits);
  const auto add = [&](std::uint32_t pid, const char* comm, const char* cgroup, WaitFor wait_for,
                       double ns) {
    window->sites.push_back({.pid = pid,
                             .process_start_ns = 41 * kSecond,
                             .cgroup = cgroup,
                             .comm = comm,
                             .wait_for = wait_for,
                             .site = "file-lock",
                             .time = {.ns = ns}});
  };
  add(31, "client", "/system.slice/shop.service", WaitFor::Lock, 40e9);
  add(31, "", "/system.slice/shop.service", WaitFor::Answer, 5e9);
  add(32, "client", "/system.slice/shop.service", WaitFor::Lock, 35e9);
  add(33, "client", "/other", WaitFor::Unknown, 1e9);
  add(34, "idler", "/other", WaitFor::Timer, 90e9);
  add(0, "several", "/other", WaitFor::Lock, 90e9);
  view.waits = window;
  const json top = top_of(view);
  const json& rows = top.at("processes");
  ASSERT_EQ(rows.size(), 4U) << "who only idled has no row";
  EXPECT_EQ(top.at("matching"), 2) << "that have not ended";
  EXPECT_EQ(rows.at(0).at("pid"), nullptr);
  EXPECT_EQ(rows.at(0).at("start_time"), nullptr);
  EXPECT_EQ(rows.at(0).at("ended_processes"), 2);
  EXPECT_EQ(rows.at(0).at("comm"), "client");
  EXPECT_EQ(rows.at(0).at("unit"), "shop.service");
  EXPECT_DOUBLE_EQ(rows.at(0).at("waits").at("actionable"), 8);
  EXPECT_EQ(rows.at(1).at("pid"), 6);
  EXPECT_EQ(rows.at(1).at("ended_processes"), 0);
  EXPECT_EQ(rows.at(3).at("cgroup"), "/other") << "it waited for what nobody can tell";
  EXPECT_EQ(top_of(view, {{"for", "lock"}}).at("processes").at(0).at("ended_processes"), 2);
  EXPECT_EQ(top_of(view, {{"cgroup", "/other"}}).at("processes").size(), 1U);
  EXPECT_EQ(top_of(view, {{"pid", "31"}}).at("processes").size(), 0U);
  EXPECT_EQ(top_of(view, {{"sort", "running"}}).at("processes").size(), 2U) << "nothing is known";
}

// A shell waits as long as the program that it runs, which has a row of its own.
TEST(TopJson, WaitsForChildrenLeadNoList) {
  View view = two_processes_for_something();
  auto window = std::make_shared<WaitWindow>(*view.waits);
  window->sites.push_back({.pid = 5,
                           .process_start_ns = 40 * kSecond,
                           .wait_for = WaitFor::Answer,
                           .site = "shell-command",
                           .time = {.ns = 90e9},
                           .child = {.ns = 90e9}});
  view.waits = window;
  const json top = top_of(view);
  EXPECT_THAT(pids(top.at("processes")), ElementsAre(6, 5));
  const json& shell = top.at("processes").at(1).at("waits");
  EXPECT_DOUBLE_EQ(shell.at("actionable"), 0.4);
  EXPECT_DOUBLE_EQ(shell.at("children"), 9);
  EXPECT_EQ(shell.at("sites").at(0).at("site"), "fsync");
  EXPECT_DOUBLE_EQ(shell.at("for").at("answer").at("waiting"), 9);
}

// The client of a database waits as long as the backend before a lock, and a little longer.
TEST(TopJson, OfEqualsWhoeverWaitsForAnAnswerComesLast) {
  View view = two_processes();
  auto window = std::make_shared<WaitWindow>();
  window->begin_at = MonotonicTime(88s);
  window->end_at = MonotonicTime(98s);
  const auto add = [&](std::uint32_t pid, WaitFor wait_for, double ns) {
    window->sites.push_back(
        {.pid = pid, .process_start_ns = 40 * kSecond, .wait_for = wait_for, .time = {.ns = ns}});
  };
  view.processes[0].waited_ns = {};
  add(5, WaitFor::Answer, 10.1e9);
  add(6, WaitFor::Lock, 10e9);
  view.waits = window;
  EXPECT_THAT(pids(top_of(view).at("processes")), ElementsAre(6, 5));
  window->sites[0].time.ns = 12e9;
  EXPECT_THAT(pids(top_of(view).at("processes")), ElementsAre(5, 6)) << "it waits longer";
}

TEST(TopJson, OnlyWhatWaitsForOneThing) {
  const View view = two_processes_for_something();
  EXPECT_THAT(pids(top_of(view, {{"for", "storage"}}).at("processes")), ElementsAre(5));
  EXPECT_THAT(pids(top_of(view, {{"for", "unknown"}}).at("processes")), ElementsAre(6));
  EXPECT_EQ(top_of(view, {{"for", "memory"}}).at("matching"), 0);
}

// What a program waits for longest may be another thing than what is asked for.
TEST(TopJson, SitesAreThoseOfWhatIsAskedFor) {
  const View view = two_processes_for_something();
  const json top = top_of(view, {{"for", "unknown"}});
  EXPECT_EQ(top.at("for"), "unknown");
  const json& sites = top.at("processes").at(0).at("waits").at("sites");
  ASSERT_EQ(sites.size(), 1U);
  EXPECT_EQ(sites.at(0).at("for"), "unknown");
  EXPECT_FALSE(top_of(view).contains("for"));
}

TEST(TopJson, SaysWhichAgesAreEstimates) {
  View view = two_processes_for_something();
  auto window = std::make_shared<WaitWindow>(*view.waits);
  window->sites[2].oldest = {.ns = 60 * kSecond, .estimated = true};
  view.waits = window;
  const json top = top_of(view, {{"pid", "6"}});
  const json& site = top.at("processes").at(0).at("waits").at("sites").at(1);
  EXPECT_DOUBLE_EQ(site.at("oldest_seconds"), 60);
  EXPECT_EQ(site.at("oldest_estimated"), true);
}

// The sums of the rows, and of what ended in the cgroup.
TEST(TopJson, SelectedIsTheSumOfWhatMatches) {
  View view = two_processes_for_something();
  auto window = std::make_shared<WaitWindow>(*view.waits);
  window->sites.back().cgroup = "/user.slice/ended.scope";
  view.waits = window;
  EXPECT_FALSE(top_of(view).contains("selected")) << "all match";
  const json user = top_of(view, {{"cgroup", "/user.slice"}}).at("selected");
  EXPECT_EQ(user.at("processes"), 1);
  EXPECT_EQ(user.at("running_seconds"), 0.0);
  EXPECT_DOUBLE_EQ(user.at("waits").at("for").at("lock").at("waiting"), 5);
  EXPECT_DOUBLE_EQ(user.at("waits").at("for").at("answer").at("waiting"), 0.5);
  EXPECT_FALSE(user.at("waits").at("for").contains("storage"));
  EXPECT_EQ(user.at("waits").at("sites").at(0).at("lasting"), 3) << "as in its row";
  const json database = top_of(view, {{"comm", "postg"}}).at("selected");
  EXPECT_EQ(database.at("threads"), 2);
  EXPECT_DOUBLE_EQ(database.at("waits").at("actionable"), 0.4);
  EXPECT_EQ(top_of(view, {{"for", "storage"}}).at("selected").at("waits"), database.at("waits"));
  const json of_answers = top_of(view, {{"for", "answer"}}).at("selected").at("waits");
  EXPECT_DOUBLE_EQ(of_answers.at("for").at("answer").at("waiting"), 0.5) << "of one that has ended";
  EXPECT_EQ(top_of(view, {{"pid", "77"}}).at("selected").at("waits").at("actionable"), 0.0);
}

// Threads have no windows of their own; a process, or a cgroup, has all of its threads.
TEST(TopJson, SelectedIsOfWholeProcessesAlsoWhereRowsAreThreads) {
  const View view = two_processes_for_something();
  for (const auto& [name, value] : {std::pair("pid", "5"), std::pair("cgroup", "/user.slice")}) {
    const json processes = top_of(view, {{name, value}}).at("selected");
    EXPECT_EQ(top_of(view, {{name, value}, {"threads", "true"}}).at("selected"), processes) << name;
    for (const auto& [other, of_threads] : {std::pair("cpu", "0"), std::pair("pinned", "true"),
                                            std::pair("for", "lock"), std::pair("filter", "x")}) {
      EXPECT_FALSE(top_of(view, {{name, value}, {"threads", "true"}, {other, of_threads}})
                       .contains("selected"))
          << other;
    }
  }
  EXPECT_FALSE(top_of(view, {{"threads", "true"}}).contains("selected"));
}

TEST(TopJson, TotalsAreOfAllWhateverIsAskedFor) {
  const json top = top_of(two_processes(), {{"pid", "6"}});
  EXPECT_EQ(top.at("totals"), json::parse(R"({"processes": 2, "threads": 3,
    "actionable_seconds": 4.5, "running_seconds": 2.0,
    "blocked_seconds": {"disk": 4.0, "poll": 13.0}, "runqueue_seconds": {"preempted": 0.5},
    "waits": null, "unusual": null})"));
  EXPECT_THAT(pids(top.at("processes")), ElementsAre(6));
  View looks = two_processes();
  looks.tells_unusual = true;
  EXPECT_EQ(top_of(looks).at("totals").at("unusual"), 0);
}

TEST(TopJson, SortsReversesAndCuts) {
  const View view = two_processes();
  EXPECT_THAT(pids(top_of(view).at("processes")), ElementsAre(5, 6));
  for (const char* key : {"blocked", "runqueue", "running", "oldest", "ended", "p50", "p99", "max",
                          "threads", "actionable"}) {
    const json top = top_of(view, {{"sort", key}, {"reverse", "true"}});
    EXPECT_THAT(pids(top.at("processes")), ElementsAre(6, 5)) << key;
  }
  EXPECT_THAT(pids(top_of(view, {{"sort", "comm"}}).at("processes")), ElementsAre(6, 5));
  EXPECT_THAT(pids(top_of(view, {{"sort", "pid"}}).at("processes")), ElementsAre(5, 6));
  const json cut = top_of(view, {{"limit", "1"}});
  EXPECT_THAT(pids(cut.at("processes")), ElementsAre(5));
  EXPECT_EQ(cut.at("matching"), 2);
}

TEST(TopJson, BeforeTheSecondWalkThereIsNoInterval) {
  View view = two_processes();
  view.previous_walk = nullptr;
  EXPECT_EQ(top_of(view).at("interval_seconds"), nullptr);
  EXPECT_EQ(top_of(view, {{"threads", "true"}}).at("threads").at(0).at("running_seconds"), 0.0);
  view.walk = nullptr;
  EXPECT_EQ(top_of(view, {{"threads", "true"}}).at("threads"), json::array());
}

// A thread that was kept off its CPU by a hog, and one that idles in the kernel.
View two_threads() {
  View view = two_processes();
  auto pinned = thread(5).started(40).named("pinned").on_cpu(1).flagged(OFFCPUD_THREAD_PINNED);
  auto worker = thread(9).started(3).named("kworker").on_cpu(0);
  worker.flagged(OFFCPUD_THREAD_KERNEL | OFFCPUD_THREAD_IDLE).blocked(OFFCPUD_BLOCKED_KERNEL, 50);
  pinned.raw().kept_off_ns[OFFCPUD_BY_OTHER_CGROUP] = 3 * kSecond;
  view.previous_walk = test::walk_at(90, {pinned.running(80).ran(4), worker});
  pinned.runnable(OFFCPUD_RUNQ_PREEMPTED, 98).ran(15).waited(OFFCPUD_RUNQ_PREEMPTED, 7);
  pinned.raw().kept_off_ns[OFFCPUD_BY_OTHER_CGROUP] = 7 * kSecond;
  pinned.raw().taker_tid = 77;
  pinned.raw().longest_wait_ns = 4 * kSecond;
  pinned.raw().longest_taker_tid = 78;
  std::string_view("hog").copy(pinned.raw().taker_comm, 3);
  std::string_view("hog2").copy(pinned.raw().longest_taker_comm, 4);
  view.walk = test::walk_at(100, {pinned, worker});
  return view;
}

TEST(TopJson, AThreadInFull) {
  const json top = top_of(two_threads(), {{"threads", "true"}});
  EXPECT_FALSE(top.contains("processes"));
  EXPECT_EQ(top.at("threads").at(0), json::parse(R"({
    "tid": 5, "pid": 5, "comm": "pinned", "cgroup": "/system.slice/postgresql.service",
    "unit": "postgresql.service", "cpu": 1,
    "pinned": true, "state": "runnable", "cause": "preempted", "state_seconds": 2.0, "state_estimated": false,
    "waiting_seconds": 9.0,
    "actionable_seconds": 9.0, "running_seconds": 1.0, "blocked_seconds": {},
    "runqueue_seconds": {"preempted": 9.0}, "kept_off_seconds": {"other_cgroup": 4.0},
    "kept_off_total_seconds": {"other_cgroup": 7.0}, "last_taker": {"tid": 77, "comm": "hog"},
    "longest_wait": {"seconds": 4.0, "taker": {"tid": 78, "comm": "hog2"}}})"));
  const json& worker = top.at("threads").at(1);
  EXPECT_EQ(worker.at("state"), "blocked");
  EXPECT_EQ(worker.at("reason"), "kernel");
  EXPECT_EQ(worker.at("blocked_seconds").at("kernel"), 10.0);
  EXPECT_EQ(worker.at("actionable_seconds"), 0.0);
  EXPECT_EQ(worker.at("last_taker"), nullptr);
  EXPECT_EQ(worker.at("longest_wait"), nullptr);
}

TEST(TopJson, ThreadsByCpuAndPinning) {
  const View view = two_threads();
  const auto of = [&](std::multimap<std::string, std::string> parameters) {
    parameters.emplace("threads", "true");
    return pids(top_of(view, parameters).at("threads"));
  };
  EXPECT_THAT(of({{"cpu", "0"}}), ElementsAre(9));
  EXPECT_THAT(of({{"pinned", "true"}}), ElementsAre(5));
  EXPECT_THAT(of({{"comm", "postg"}}), ElementsAre(5));  // the name of its process
  EXPECT_THAT(of({{"cgroup", "/system.slice"}}), ElementsAre(5));
  for (const char* key : {"runqueue", "running", "kept_off", "longest", "actionable"}) {
    EXPECT_THAT(of({{"sort", key}}), ElementsAre(5, 9)) << key;
  }
  for (const char* key : {"oldest", "cpu", "comm"}) {
    EXPECT_THAT(of({{"sort", key}}), ElementsAre(9, 5)) << key;
  }
}

// A backend before a lock of its database, whose reason is poll, and an idle thread of Go, whose
// reason is lock.
TEST(TopJson, ThreadsComeByWhatTheirBlocksAreFor) {
  View view;
  view.taken = MonotonicTime(100s);
  const auto backend = thread(5).started(40).blocked(OFFCPUD_BLOCKED_POLL, 80);
  const auto go = thread(6).started(40).blocked(OFFCPUD_BLOCKED_LOCK, 70);
  view.previous_walk = test::walk_at(90, {backend, go});
  view.walk = test::walk_at(100, {backend, go});
  const auto of = [&] { return top_of(view, {{"threads", "true"}}).at("threads"); };
  EXPECT_THAT(pids(of()), ElementsAre(6, 5)) << "by reason, before anything was examined";
  auto window = std::make_shared<WaitWindow>();
  window->begin_at = MonotonicTime(88s);
  window->end_at = MonotonicTime(98s);
  const auto examined = [](WaitFor wait_for, const char* site) {
    auto wait = std::make_shared<ExaminedWait>();
    wait->wait_for = wait_for;
    wait->site = site;
    return wait;
  };
  window->blocks = {
      {.tid = 5, .since_ns = 80 * kSecond, .wait = examined(WaitFor::Lock, "row-lock")},
      {.tid = 6, .since_ns = 70 * kSecond, .wait = examined(WaitFor::Work, "go-idle")}};
  window->sites = {
      {.pid = 5, .process_start_ns = 40 * kSecond, .wait_for = WaitFor::Lock, .time = {.ns = 10e9}},
      {.pid = 6,
       .process_start_ns = 40 * kSecond,
       .wait_for = WaitFor::Work,
       .time = {.ns = 10e9}}};
  view.waits = window;
  const json threads = of();
  ASSERT_THAT(pids(threads), ElementsAre(5, 6));
  EXPECT_EQ(threads.at(0).at("for"), "lock");
  EXPECT_EQ(threads.at(0).at("site"), "row-lock");
  EXPECT_EQ(threads.at(0).at("waiting_seconds"), 10.0);
  EXPECT_EQ(threads.at(0).at("actionable_seconds"), 0.0) << "by reason";
  EXPECT_EQ(threads.at(1).at("waiting_seconds"), 0.0);
  EXPECT_THAT(pids(top_of(view, {{"threads", "true"}, {"for", "work"}}).at("threads")),
              ElementsAre(6));
}

TEST(TopJson, AWaitWithoutABeginningHasNoAge) {
  View view = two_processes();
  view.walk = test::walk_at(
      100, {thread(5).blocked(OFFCPUD_BLOCKED_LOCK, 0).flagged(OFFCPUD_THREAD_UNKNOWN)});
  const json top = top_of(view, {{"threads", "true"}});
  EXPECT_EQ(top.at("threads").at(0).at("state_seconds"), nullptr);
}

}  // namespace
}  // namespace offcpud
