// SPDX-License-Identifier: Apache-2.0
#include "api/stalls_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <nlohmann/json.hpp>

#include "api/syscall_names.h"
#include "base/utc.h"
#include "pipeline/reading_source.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;
using Query = std::multimap<std::string, std::string>;

Stall stall(std::uint32_t tid, const char* cgroup, std::size_t kind) {
  auto labels = std::make_shared<SubjectLabels>();
  labels->cgroup = cgroup;
  Stall stall;
  stall.tid = tid + 1'000;
  stall.tgid = 1'100;
  stall.local_tid = tid;
  stall.local_tgid = 100;
  stall.comm = "worker";
  stall.process_comm = "server";
  stall.labels = labels;
  stall.kind = kind;
  stall.since = WallTime(1'700'000'000s + 250ms);
  stall.duration_ns = 12'500'000'000;
  return stall;
}

Stall ended(Stall stall) {
  stall.ended = true;
  stall.ended_at = stall.since + 12'500ms;
  stall.woken_from = OFFCPUD_FROM_INTERRUPT;
  return stall;
}

View view_of(std::initializer_list<Stall> stalls) {
  auto list = std::make_shared<StallList>();
  for (const Stall& each : stalls) list->stalls.push_back(std::make_shared<const Stall>(each));
  list->dropped = 4;
  View view;
  view.taken_wall = WallTime(1'700'000'100s);
  view.stalls = std::move(list);
  return view;
}

// What root sees unless `sight` is another.
Json json_of(const View& view, const Query& query = {},
             const StallSight& sight = {.addresses = true}) {
  const auto text = stalls_json(view, query, sight);
  if (!text) {
    ADD_FAILURE() << text.error().message();
    return {};
  }
  return Json::parse(*text);
}

std::vector<int> tids(const Json& answer) {
  std::vector<int> tids;
  for (const Json& each : answer["stalls"]) tids.push_back(each["tid"]);
  return tids;
}

TEST(StallsJson, WithoutStallsIsAnEmptyList) {
  EXPECT_EQ(json_of(view_of({})), Json::parse(R"({"taken": "2023-11-14T22:15:00.000Z",
      "dropped": 4, "not_told": null, "beyond_limit": 0, "matching": 0, "addresses": true, "stalls": [],
      "unusual": null})"));
  EXPECT_EQ(json_of(View{})["stalls"], Json::array());
}

TEST(StallsJson, CountsThoseWithoutARecord) {
  auto list = std::make_shared<StallList>();
  list->unlisted = {{.threads = 4}, {.threads = 3}};
  View view;
  view.stalls = list;
  EXPECT_EQ(json_of(view)["beyond_limit"], 7);
  EXPECT_EQ(json_of(view)["matching"], 0);
}

std::shared_ptr<const ExaminedWait> wait(WaitFor wait_for, bool certain = true) {
  return std::make_shared<const ExaminedWait>(ExaminedWait{.wait_for = wait_for,
                                                           .site = "shop-pool",
                                                           .certain = certain,
                                                           .user = {"acquire [shopd]", "main"},
                                                           .kernel = {"futex_wait"}});
}

TEST(StallsJson, SaysWhatTheStackSays) {
  Stall full = stall(110, "/a", OFFCPUD_BLOCKED_POLL);
  full.wait = wait(WaitFor::Lock);
  const Json answer = json_of(view_of({full}))["stalls"][0];
  EXPECT_EQ(answer["for"], "lock");
  EXPECT_EQ(answer["site"], "shop-pool");
  EXPECT_EQ(answer["certain"], true);
  EXPECT_EQ(answer["user_stack"], Json({"acquire [shopd]", "main"}));
  EXPECT_EQ(answer["stack"], Json({"futex_wait"})) << "until the kernel is asked for more";
}

// What people are not told of is counted, and shown to those who ask.
TEST(StallsJson, WhatIsNotToldIsCountedAndShownOnRequest) {
  Stall told = stall(110, "/a", OFFCPUD_BLOCKED_LOCK);
  told.wait = wait(WaitFor::Lock);
  Stall unknown = stall(111, "/a", OFFCPUD_BLOCKED_LOCK);
  unknown.told = false;
  unknown.wait = wait(WaitFor::Unknown, false);
  Stall unsure = stall(112, "/a", OFFCPUD_BLOCKED_POLL);
  unsure.told = false;
  unsure.wait = wait(WaitFor::Answer, false);
  View view = view_of({told});
  auto list = std::make_shared<StallList>(*view.stalls);
  list->examines = true;
  list->untold = {std::make_shared<const Stall>(unknown), std::make_shared<const Stall>(unsure)};
  list->untold_blocks = {0, 1, 0, 0, 0, 12, 3, 2};
  view.stalls = list;
  const Json answer = json_of(view);
  EXPECT_EQ(tids(answer), std::vector<int>{110});
  EXPECT_EQ(answer["not_told"],
            Json::parse(R"({"work": 12, "timer": 3, "unknown": 2, "child": 1})"));
  EXPECT_EQ(tids(json_of(view, {{"for", "unknown"}})), (std::vector<int>{111, 112}));
  EXPECT_EQ(tids(json_of(view, {{"for", "answer"}})), std::vector<int>{112});
  EXPECT_EQ(tids(json_of(view, {{"for", "lock"}})), std::vector<int>{110});
  EXPECT_EQ(json_of(view, {{"for", "answer"}})["stalls"][0]["certain"], false);
  EXPECT_EQ(json_of(view, {{"for", "answer"}})["stalls"][0]["told"], false);
}

// Apart from stalls, whose number they do not change.
TEST(StallsJson, UnusualWaitsAreAList) {
  Stall silent = stall(111, "/a/b", OFFCPUD_BLOCKED_PIPE);
  silent.told = false;
  silent.wait = wait(WaitFor::Unknown, false);
  View view = view_of({stall(110, "/a", OFFCPUD_BLOCKED_LOCK)});
  view.tells_unusual = true;
  EXPECT_EQ(json_of(view)["unusual"], Json::array());
  view.unusual.push_back({std::make_shared<const Stall>(silent),
                          std::make_shared<const UsualWaits>(UsualWaits{.waits = 1'199.6,
                                                                        .p99_ns = 5'000'000,
                                                                        .longest_ns = 40'000'000,
                                                                        .seen_ns = 720'000'000'000,
                                                                        .silent_ns = 1})});
  const Json answer = json_of(view);
  EXPECT_EQ(tids(answer), std::vector<int>{110});
  EXPECT_EQ(answer["matching"], 1);
  ASSERT_EQ(answer["unusual"].size(), 1U);
  EXPECT_EQ(answer["unusual"][0]["tid"], 111);
  EXPECT_EQ(answer["unusual"][0]["for"], "unknown");
  EXPECT_EQ(answer["unusual"][0]["usual"], Json::parse(R"({"waits": 1200, "p99_seconds": 0.005,
      "longest_seconds": 0.04, "seen_seconds": 720.0})"));
  const std::vector<std::pair<Query, std::size_t>> queries = {
      {{{"for", "unknown"}}, 1},       {{{"for", "lock"}}, 0},    {{{"state", "ended"}}, 0},
      {{{"state", "in_progress"}}, 1}, {{{"reason", "pipe"}}, 1}, {{{"reason", "lock"}}, 0},
      {{{"cgroup", "/a/b"}}, 1},       {{{"cgroup", "/c"}}, 0},   {{{"comm", "nobody"}}, 0},
  };
  for (const auto& [query, found] : queries) {
    EXPECT_EQ(json_of(view, query)["unusual"].size(), found) << query.begin()->second;
  }
  view.unusual.push_back(view.unusual.front());
  EXPECT_EQ(json_of(view, {{"limit", "1"}})["unusual"].size(), 1U);
}

TEST(StallsJson, SaysEverythingThatIsKnown) {
  Stall full = stall(110, "/system.slice/a.service", OFFCPUD_BLOCKED_LOCK);
  auto labels = std::make_shared<SubjectLabels>(*full.labels);
  labels->slice = "system.slice";
  labels->unit = "a.service";
  full.labels = labels;
  full.detail = WaitDetail{};
  full.detail->syscall = SYS_futex;
  full.detail->arguments = {0x7f0000000010, 128, 2, 0, 0, 0xffffffffffffffff};
  full.detail->stack = {"futex_wait_queue+0x6b/0x90", "do_syscall_64+0x55/0xb0"};
  full.detail->futex_address = 0x7f0000000010;
  full.detail->owner_tid = 1152;
  full.detail->owner_comm = "holder";
  full.detail->fd = 7;
  full.detail->file = "/srv/data";
  full.detail->device = "8:1 sda1";
  full.detail->socket = "tcp 10.0.0.1:1 -> 10.0.0.2:443 ESTABLISHED";
  const Json answer = json_of(view_of({full}))["stalls"][0];
  EXPECT_EQ(answer, Json::parse(R"({
      "state": "in_progress", "told": true, "since": "2023-11-14T22:13:20.250Z",
      "duration_seconds": 12.5,
      "estimated": false, "pid": 100, "tid": 110, "comm": "worker", "process": "server",
      "cgroup": "/system.slice/a.service", "slice": "system.slice", "unit": "a.service",
      "reason": "lock", "for": null, "site": null, "certain": null, "user_stack": [],
      "examined": true,
      "syscall": {"number": )" + std::to_string(SYS_futex) +
                                R"(, "name": "futex",
                  "arguments": ["0x7f0000000010", "0x80", "0x2", "0x0", "0x0",
                                "0xffffffffffffffff"]},
      "waits_for": {"futex": {"address": "0x7f0000000010",
                              "owner": {"tid": 1152, "comm": "holder"}},
                    "file": {"fd": 7, "path": "/srv/data", "device": "8:1 sda1"},
                    "socket": "tcp 10.0.0.1:1 -> 10.0.0.2:443 ESTABLISHED"},
      "stack": ["futex_wait_queue+0x6b/0x90", "do_syscall_64+0x55/0xb0"],
      "ended_at": null, "ended_ago_seconds": null, "woken_by": null})"));
}

Stall waits_for_futex(std::uint32_t tgid, std::uint64_t address) {
  Stall waits = stall(110, "/a", OFFCPUD_BLOCKED_LOCK);
  waits.tgid = tgid;
  waits.detail = WaitDetail{};
  waits.detail->syscall = SYS_futex;
  waits.detail->arguments = {address, 128, 2, 0, 0, 0};
  waits.detail->stack = {"futex_wait_queue+0x6b/0x90", "0xffffffffc0123456"};
  waits.detail->futex_address = address;
  waits.detail->fd = 7;
  waits.detail->file = "/root/secret";
  waits.detail->device = "8:1 sda1";
  return waits;
}

TEST(StallsJson, AddressesAndPathsAreForThoseWhoMaySeeThem) {
  const AddressNames names;
  const Json answer = json_of(view_of({waits_for_futex(1'100, 0x7f0000000010)}), {},
                              {.addresses = false, .names = &names});
  EXPECT_EQ(answer["addresses"], false);
  const Json& seen = answer["stalls"][0];
  EXPECT_EQ(seen["syscall"], (Json{{"number", SYS_futex}, {"name", "futex"}}));
  EXPECT_EQ(seen["waits_for"]["file"], (Json{{"fd", 7}, {"device", "8:1 sda1"}}));
  EXPECT_EQ(seen["waits_for"]["futex"].size(), 1U) << seen["waits_for"]["futex"];
  EXPECT_EQ(seen["stack"], (Json{"futex_wait_queue+0x6b/0x90", "[unknown]"}));
  for (const char* secret : {"7f0000000010", "secret", "c0123456"}) {
    EXPECT_EQ(answer.dump().find(secret), std::string::npos) << secret;
  }
}

TEST(StallsJson, WhatIsNoPathIsForEverybody) {
  for (const char* kind : {"pipe", "socket", "anon_inode:[eventpoll]"}) {
    Stall waits = waits_for_futex(1, 1);
    waits.detail->file = kind;
    const Json answer = json_of(view_of({waits}), {}, {});
    EXPECT_EQ(answer["stalls"][0]["waits_for"]["file"]["path"], kind);
  }
}

// Two waiters at one place have one name; no other place has it, in no process and no other daemon.
TEST(StallsJson, AFutexHasANameThatIsNoAddress) {
  const AddressNames names, of_another_daemon;
  const auto name = [](const Stall& stall, const AddressNames& by) {
    const Json answer = json_of(view_of({stall}), {}, {.addresses = false, .names = &by});
    return answer["stalls"][0]["waits_for"]["futex"]["id"].get<std::string>();
  };
  const std::string id = name(waits_for_futex(1, 0x1000), names);
  EXPECT_THAT(id, ::testing::MatchesRegex("#[0-9a-f]{12}"));
  EXPECT_EQ(id, name(waits_for_futex(1, 0x1000), names));
  EXPECT_NE(id, name(waits_for_futex(1, 0x1004), names));
  EXPECT_NE(id, name(waits_for_futex(2, 0x1000), names));
  EXPECT_NE(id, name(waits_for_futex(1, 0x1000), of_another_daemon));
}

TEST(StallsJson, WhatIsNotKnownIsNull) {
  Stall unseen = ended(stall(0, "/a", OFFCPUD_BLOCKED_DISK));
  unseen.process_comm.clear();
  const Json answer = json_of(view_of({unseen}))["stalls"][0];
  EXPECT_EQ(answer["state"], "ended");
  EXPECT_EQ(answer["tid"], nullptr);
  EXPECT_EQ(answer["process"], nullptr);
  EXPECT_EQ(answer["examined"], false);
  EXPECT_EQ(answer["syscall"], nullptr);
  EXPECT_EQ(answer["waits_for"], Json::object());
  EXPECT_EQ(answer["stack"], Json::array());
  EXPECT_EQ(answer["ended_at"], "2023-11-14T22:13:32.750Z");
  EXPECT_EQ(answer["woken_by"], (Json{{"from", "interrupt"}, {"tid", nullptr}, {"comm", nullptr}}));
  EXPECT_FALSE(answer.contains("unit"));
}

TEST(StallsJson, NamesThatAreNotTextDoNotBreakIt) {
  Stall hostile = stall(1, "/a", OFFCPUD_BLOCKED_DISK);
  hostile.detail = WaitDetail{};
  hostile.detail->file = "/\xff\"\n";
  EXPECT_EQ(json_of(view_of({hostile}))["stalls"][0]["waits_for"]["file"]["path"], "/\uFFFD\"\n");
}

TEST(StallsJson, ParametersChoose) {
  Stall other = stall(3, "/a.slice/c", OFFCPUD_BLOCKED_DISK);
  other.comm = "cp";
  other.process_comm = "cp";
  const View view =
      view_of({stall(1, "/a", OFFCPUD_BLOCKED_LOCK), stall(2, "/a/b", OFFCPUD_BLOCKED_DISK), other,
               ended(stall(4, "/a", OFFCPUD_BLOCKED_LOCK))});
  const struct {
    Query query;
    std::vector<int> tids;
  } cases[] = {
      {{}, {1, 2, 3, 4}},
      {{{"state", "in_progress"}}, {1, 2, 3}},
      {{{"state", "ended"}}, {4}},
      {{{"cgroup", "/a"}}, {1, 2, 4}},
      {{{"cgroup", "/a/"}}, {1, 2, 4}},
      {{{"cgroup", "/"}}, {1, 2, 3, 4}},
      {{{"cgroup", "/a/b"}}, {2}},
      {{{"comm", "cp"}}, {3}},
      {{{"comm", "server"}}, {1, 2, 4}},
      {{{"comm", "serv"}}, {}},
      {{{"reason", "disk"}}, {2, 3}},
      {{{"reason", "disk"}, {"cgroup", "/a"}}, {2}},
      {{{"limit", "2"}}, {1, 2}},
  };
  for (const auto& [query, expected] : cases) {
    EXPECT_EQ(tids(json_of(view, query)), expected)
        << (query.empty() ? "" : query.begin()->first + "=" + query.begin()->second);
  }
  EXPECT_EQ(json_of(view, {{"limit", "2"}})["matching"], 4) << "what the limit left out is told";
}

TEST(StallsJson, RefusesWhatItDoesNotUnderstand) {
  const struct {
    Query query;
    const char* error;
  } cases[] = {
      {{{"stat", "ended"}},
       "unknown parameter \"stat\"; use state, cgroup, comm, reason, for or limit"},
      {{{"state", "open"}}, "parameter state: \"open\" is not allowed; use in_progress or ended"},
      {{{"reason", "io\n"}},
       "parameter reason: \"io\\x0a\" is not allowed; use one of disk, lock, condvar, network, "
       "pipe, poll, sleep, child, kernel, stopped, other"},
      {{{"limit", "0"}},
       "parameter limit: \"0\" is not allowed; use a whole number from 1 to 20000"},
      {{{"limit", "1x"}},
       "parameter limit: \"1x\" is not allowed; use a whole number from 1 to 20000"},
      {{{"limit", "20001"}},
       "parameter limit: \"20001\" is not allowed; use a whole number from 1 to 20000"},
      {{{"cgroup", ""}},
       "parameter cgroup: \"\" is not allowed; use a path such as /system.slice, or a unit such as "
       "nginx.service"},
      {{{"comm", ""}}, "parameter comm: \"\" is not allowed; use the name of a thread or process"},
      {{{"comm", "a"}, {"comm", "b"}}, "parameter \"comm\" is given twice; give it once"},
  };
  for (const auto& [query, error] : cases) {
    const auto answer = stalls_json(view_of({}), query, {});
    ASSERT_FALSE(answer) << error;
    EXPECT_EQ(answer.error().kind(), ErrorKind::Usage);
    EXPECT_EQ(answer.error().message(), error);
  }
}

TEST(Rfc3339, IsUtcWithMilliseconds) {
  EXPECT_EQ(rfc3339(WallTime(0s)), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(rfc3339(WallTime(1'700'000'000s + 999'999us)), "2023-11-14T22:13:20.999Z");
  EXPECT_EQ(rfc3339(WallTime(-1ms)), "1969-12-31T23:59:59.999Z");
}

TEST(SyscallNames, AreThoseOfTheTable) {
  EXPECT_EQ(syscall_name(SYS_read, false), "read");
  EXPECT_EQ(syscall_name(SYS_clock_nanosleep, false), "clock_nanosleep");
  EXPECT_EQ(syscall_name(1'000'000, false), "");
#if defined(__x86_64__) || defined(__aarch64__)
  EXPECT_EQ(syscall_name(3, true), "read");  // of both 32-bit tables
#endif
}

View view_held(const Stall& stall, LockKind kind, std::uint64_t since_ns) {
  View view = view_of({stall});
  LockHolder holder{.kind = kind, .tid = 1'152, .local_tid = 152};
  std::string_view("hold\ner").copy(holder.comm.data(), OFFCPUD_COMM);
  holder.process = {.tgid = 1'100, .local_tgid = 100};
  std::string_view("server").copy(holder.process.comm.data(), OFFCPUD_COMM);
  auto window = std::make_shared<WaitWindow>();
  window->held = {{.tid = stall.tid,
                   .since_ns = since_ns,
                   .holder_cgroup = "/b",
                   .holder = std::make_shared<const LockHolder>(holder)}};
  view.waits = window;
  return view;
}

TEST(StallsJson, WhoHoldsTheLockIsNamed) {
  Stall waits = stall(110, "/a", OFFCPUD_BLOCKED_LOCK);
  waits.since_ns = 7;
  View view = view_held(waits, LockKind::RwLock, 7);
  const auto held_by = [](const View& of) { return json_of(of)["stalls"][0]["held_by"]; };
  EXPECT_EQ(held_by(view), Json::parse(R"({"lock": "rwlock", "pid": 100, "process": "server",
      "tid": 152, "comm": "hold\ner", "cgroup": "/b", "deadlock": false, "does": "unknown",
      "does_seconds": null, "does_estimated": false})"));
  view.deadlocks = std::make_shared<const std::vector<Deadlock>>(
      std::vector<Deadlock>{{view.waits->held.front()}});
  EXPECT_EQ(held_by(view)["deadlock"], true);
  const Json file = held_by(view_held(waits, LockKind::File, 7));
  EXPECT_TRUE(file["tid"].is_null() && file["comm"].is_null()) << "it is the process's";
  EXPECT_FALSE(json_of(view_held(waits, LockKind::Mutex, 8))["stalls"][0].contains("held_by"))
      << "an earlier wait of that thread";
  EXPECT_FALSE(
      json_of(view_held(ended(waits), LockKind::Mutex, 7))["stalls"][0].contains("held_by"));
}

TEST(StallsJson, AHolderIsToldWithWhatItDoesAndForHowLong) {
  Stall waits = stall(110, "/a", OFFCPUD_BLOCKED_LOCK);
  waits.since_ns = 7;
  View view = view_held(waits, LockKind::Mutex, 7);
  auto walk = std::make_shared<ThreadWalk>();
  walk->threads = {{.now_ns = 9'000'000'000,
                    .since_ns = 8'900'000'000,
                    .awake_ns = 4'500'000'000,
                    .tid = 1'152,
                    .tgid = 1'100,
                    .state = OFFCPUD_THREAD_RUNNING}};
  view.walk = walk;
  const auto held_by = [](const View& of) { return json_of(of)["stalls"][0]["held_by"]; };
  EXPECT_EQ(held_by(view)["does"], "runs");
  EXPECT_EQ(held_by(view)["does_seconds"], 4.5) << "not only since it was preempted last";
  const View file = [&] {
    View of = view_held(waits, LockKind::File, 7);
    of.walk = walk;
    return of;
  }();
  EXPECT_EQ(held_by(file)["does"], "unknown") << "any thread of the process may have it";
  walk->threads.front().tgid = 1'700;
  EXPECT_EQ(held_by(view)["does"], "unknown") << "another process has its number now";
}

// The window of now knows nothing of it any more.
TEST(StallsJson, AnEndedOneKeepsWhoHeldTheLock) {
  const Stall waits = stall(110, "/a", OFFCPUD_BLOCKED_LOCK);
  const View then = view_held(waits, LockKind::Mutex, 0);
  Stall over = ended(waits);
  over.was_held = std::make_shared<const HeldWait>(then.waits->held.front());
  over.was_deadlocked = true;
  const Json answer = json_of(view_of({over}))["stalls"][0];
  EXPECT_EQ(answer["held_by"], Json::parse(R"({"lock": "mutex", "pid": 100, "process": "server",
      "tid": 152, "comm": "hold\ner", "cgroup": "/b", "deadlock": true, "does": "unknown",
      "does_seconds": null, "does_estimated": false})"));
}

TEST(StallsJson, AnEndedOneSaysHowLongAgo) {
  const auto ago = [](const Stall& of) {
    return json_of(view_of({of}))["stalls"][0]["ended_ago_seconds"];
  };
  Stall over = ended(stall(110, "/a", OFFCPUD_BLOCKED_LOCK));
  EXPECT_EQ(ago(over), 87.25);
  over.ended_at = over.since + 1h;
  EXPECT_EQ(ago(over), 0.0) << "the clock was set";
  over.ended_at.reset();
  EXPECT_TRUE(ago(over).is_null()) << "nobody saw its end";
}

PeerWaits waits_on(std::uint32_t pid, WaitFor wait_for, const char* on,
                   std::uint32_t peer_pid = 0) {
  PeerWaits row;
  row.pid = pid;
  row.wait_for = wait_for;
  row.on = on;
  row.peer_pid = peer_pid;
  row.peer_comm = peer_pid != 0 ? "redis-server" : "";
  row.time.ns = 1e9;
  return row;
}

View view_on(std::vector<PeerWaits> peers, bool has_ended = false) {
  Stall one = stall(7, "/a", OFFCPUD_BLOCKED_NETWORK);
  auto wait = std::make_shared<ExaminedWait>();
  wait->wait_for = WaitFor::Answer;
  one.wait = wait;
  View view = view_of({has_ended ? ended(one) : one});
  auto window = std::make_shared<WaitWindow>();
  window->peers = std::move(peers);
  view.waits = std::move(window);
  return view;
}

TEST(StallsJson, SayOnWhomTheyWait) {
  const auto told = [](const View& view) { return json_of(view)["stalls"][0]["waits_on"]; };
  EXPECT_EQ(told(view_on({waits_on(100, WaitFor::Answer, "redis.service", 412)})),
            (Json{{"on", "redis.service"}, {"pid", 412}, {"comm", "redis-server"}}));
  EXPECT_EQ(told(view_on({waits_on(100, WaitFor::Answer, "remote:10.0.0.5:5432")})),
            (Json{{"on", "remote:10.0.0.5:5432"}}));
}

TEST(StallsJson, AnEndedOneKeepsOnWhomItWaited) {
  View view = view_on({}, true);
  Stall over = *view.stalls->stalls.front();
  over.was_on =
      std::make_shared<const PeerWaits>(waits_on(100, WaitFor::Answer, "redis.service", 412));
  EXPECT_EQ(json_of(view_of({over}))["stalls"][0]["waits_on"],
            (Json{{"on", "redis.service"}, {"pid", 412}, {"comm", "redis-server"}}));
}

TEST(StallsJson, NameNobodyWhoIsNotKnownForCertain) {
  const auto is_told = [](const View& view) {
    return json_of(view)["stalls"][0].contains("waits_on");
  };
  EXPECT_FALSE(is_told(view_on({})));
  EXPECT_FALSE(is_told(view_on({waits_on(100, WaitFor::Answer, "(unknown)")})));
  EXPECT_FALSE(is_told(view_on({waits_on(100, WaitFor::Work, "redis.service")})));
  EXPECT_FALSE(is_told(view_on({waits_on(101, WaitFor::Answer, "redis.service")})));
  EXPECT_FALSE(is_told(view_on({waits_on(100, WaitFor::Answer, "redis.service", 412),
                                waits_on(100, WaitFor::Answer, "redis.service", 413)})));
  EXPECT_FALSE(is_told(view_on({waits_on(100, WaitFor::Answer, "redis.service"),
                                waits_on(100, WaitFor::Answer, "(unknown)")})));
  EXPECT_FALSE(is_told(view_on({waits_on(100, WaitFor::Answer, "redis.service")}, true)));
}

}  // namespace
}  // namespace offcpud
