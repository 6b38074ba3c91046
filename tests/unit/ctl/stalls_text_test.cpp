// SPDX-License-Identifier: Apache-2.0
#include "ctl/stalls_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>

namespace offcpud {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kNothing = "nothing is stuck; offcpuctl why says who waits for a shorter time\n";

std::string stalls_text_of(const std::string& json, bool verbose = false, bool of_unknown = false) {
  const auto text = stalls_text(json, {.verbose = verbose, .of_unknown = of_unknown});
  return text ? *text : "error: " + text.error().message();
}

constexpr const char* kThreeStalls =
    R"({"taken": "2026-11-20T12:00:00.000Z", "dropped": 0, "matching": 3, "stalls": [
    {"state": "in_progress", "since": "2026-11-20T11:59:47.500Z", "duration_seconds": 12.56,
     "estimated": false, "pid": 100, "tid": 110, "comm": "worker", "process": "server",
     "cgroup": "/a.slice/a.service", "unit": "a.service", "reason": "condvar", "for": "lock",
     "site": "jvm-monitor", "certain": true, "user_stack": ["wait [libc.so.6]", "enter"],
     "examined": true,
     "syscall": {"number": 202, "name": "futex", "arguments": ["0x10", "0x80"]},
     "waits_for": {"futex": {"address": "0x10", "owner": {"tid": 152, "comm": "holder"}}},
     "stack": ["a+0x1/0x2", "b+0x1/0x2 [ext4]", "c", "d", "e", "f", "g"],
     "ended_at": null, "woken_by": null},
    {"state": "ended", "since": "2026-11-20T11:00:00.000Z", "duration_seconds": 200.0,
     "estimated": true, "pid": 7, "tid": 7, "comm": "cp", "process": "cp",
     "cgroup": "/", "reason": "disk", "syscall": {"number": 999, "name": null, "arguments": []},
     "waits_for": {"file": {"fd": 3, "path": "/srv/x", "device": "8:1 sda1"}}, "stack": [],
     "ended_at": "2026-11-20T11:03:20.000Z",
     "woken_by": {"from": "interrupt", "tid": null, "comm": null}},
    {"state": "ended", "since": "x", "duration_seconds": 60, "pid": null, "tid": null, "comm": "",
     "process": null, "cgroup": "/", "reason": "network", "syscall": null,
     "waits_for": {"socket": "tcp a -> b"}, "stack": [], "ended_at": null, "woken_by": null}]})";

TEST(StallsText, IsATableOfALineEach) {
  EXPECT_EQ(
      stalls_text_of(kThreeStalls),
      "STATE  LASTS        THREADS  FOR   SITE         PROCESS/THREAD  PID/TID  UNIT OR CGROUP  "
      "WAITS FOR\n"
      "stuck  13 s         1        lock  jvm-monitor  server/worker   100/110  a.service       "
      "futex 0x10 held by holder[152]\n"
      "ended  ~3 min 20 s  1        -     -            cp              7/7      no unit (/)     "
      "fd 3 /srv/x on 8:1 sda1\n"
      "gone   1 min        1        -     -            -               -/-      no unit (/)     "
      "tcp a -> b\n"
      "~ estimated: it began before offcpud was started\n"
      "-v shows stacks and system calls, --all those that ended, too\n");
}

TEST(StallsText, VerboseItHasDetailsBelowEachLine) {
  EXPECT_EQ(
      stalls_text_of(kThreeStalls, true),
      "STATE  LASTS        THREADS  FOR   SITE         PROCESS/THREAD  PID/TID  UNIT OR CGROUP  "
      "WAITS FOR\n"
      "stuck  13 s         1        lock  jvm-monitor  server/worker   100/110  a.service       "
      "futex 0x10 held by holder[152]\n"
      "    since      2026-11-20T11:59:47.500Z\n"
      "    reason     condvar\n"
      "    in         futex(0x10, 0x80)\n"
      "    waits for  futex 0x10 held by holder[152]\n"
      "    stack      wait [libc.so.6] < enter\n"
      "    in kernel  a < b < c < d < e < f < ...\n"
      "ended  ~3 min 20 s  1        -     -            cp              7/7      no unit (/)     "
      "fd 3 /srv/x on 8:1 sda1\n"
      "    since      2026-11-20T11:00:00Z\n"
      "    until      2026-11-20T11:03:20.000Z\n"
      "    reason     disk\n"
      "    in         system call 999()\n"
      "    waits for  fd 3 /srv/x on 8:1 sda1\n"
      "    woken by   interrupt\n"
      "gone   1 min        1        -     -            -               -/-      no unit (/)     "
      "tcp a -> b\n"
      "    since      x\n"
      "    reason     network\n"
      "    waits for  tcp a -> b\n"
      "~ estimated: it began before offcpud was started\n"
      "... in a stack: functions that are left out; --json has all\n");
}

std::string stack_line(const std::string& frames) {
  const std::string text =
      stalls_text_of(R"({"stalls": [{"user_stack": [)" + frames + "]}]}", true);
  const std::string label = "    stack      ";
  const std::size_t at = text.find(label);
  if (at == std::string::npos) return "no stack in " + text;
  const std::size_t begin = at + label.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

// What people look for is their own function, however deep the interpreter or a library is.
TEST(StallsText, AStackGoesOnToTheFirstFunctionOfTheProgram) {
  constexpr const char* kSix =
      R"("a [libc.so.6]", "b [python3.11]", "c [python3.11]", "d [python3.11]", "e [python3.11]",
         "f [python3.11]", )";
  const std::string six =
      "a [libc.so.6] < b [python3.11] < c [python3.11] < d [python3.11] < e [python3.11] < f "
      "[python3.11]";
  EXPECT_EQ(stack_line(std::string(kSix) +
                       R"j("g [python3.11]", "h [python3.11]", "pay (shop/till.py:5)",
                           "q (till.py:7)", "r (t.py)", "<module> (t.py:9)", "main")j"),
            six + " < ... < pay (shop/till.py:5) < q (till.py:7) < r (t.py) < ...");
  EXPECT_EQ(stack_line(std::string(kSix) + R"j("pay (till.py:5)")j"), six + " < pay (till.py:5)");
  EXPECT_EQ(stack_line(std::string(kSix) + R"("g [python3.11]")"), six + " < ...")
      << "none of Python is known";

  constexpr const char* kLibraries =
      R"("[vdso]", "b [libssl.so]", "c [libssl.so.3]", "d [libssl.so.3]", "e [libssl.so.3]",
         "f [libssl.so.3]", "g [libssl.so.3]", "slices.sort [shopd]", "main [shopd]")";
  EXPECT_EQ(stack_line(kLibraries),
            "[vdso] < b [libssl.so] < c [libssl.so.3] < d [libssl.so.3] < e [libssl.so.3] < f "
            "[libssl.so.3] < ... < slices.sort [shopd] < main [shopd]");
  const std::string all = stack_line(R"("a", "b", "c", "d", "e", "f")");
  EXPECT_EQ(all, "a < b < c < d < e < f");
}

TEST(StallsText, SaysWhereTheRestOfAStackIsOnlyIfItIsCut) {
  constexpr const char* kHint = "... in a stack: functions that are left out; --json has all\n";
  const auto verbose = [](const std::string& frames) {
    return stalls_text_of(R"({"stalls": [{"user_stack": [)" + frames + "]}]}", true);
  };
  EXPECT_THAT(verbose(R"("a", "b", "c", "d", "e", "f", "g")"), HasSubstr(kHint));
  EXPECT_THAT(verbose(R"("a", "b", "c", "d", "e", "f")"), Not(HasSubstr(kHint)));
  EXPECT_THAT(stalls_text_of(kThreeStalls), Not(HasSubstr(kHint))) << "stacks are not shown";
}

std::string stall_held(const std::string& held_by, const std::string& more = {}) {
  return stalls_text_of(R"({"dropped": 0, "matching": 2, "stalls": [
    {"state": "in_progress", "pid": 100, "tid": 110, "comm": "w", "process": "w", "cgroup": "/",
     "for": "lock", "site": "mutex", "held_by": )" +
                            held_by + "}" + more + "]}",
                        true);
}

TEST(StallsText, SaysWhoHoldsALock) {
  EXPECT_THAT(stall_held(R"({"lock": "mutex", "pid": 100, "process": "server", "tid": 152,
      "comm": "wor\u001bker", "deadlock": true})"),
              HasSubstr("\n    held by    wor\\x1bker[152] in server[100] (mutex), a deadlock\n"));
  EXPECT_THAT(
      stall_held(R"({"lock": "mutex", "pid": 100, "process": "server", "tid": 152,
      "comm": "worker", "deadlock": false, "does": "waits", "does_seconds": 12.25,
      "does_estimated": true})"),
      HasSubstr("\n    held by    worker[152] in server[100] (mutex), waits, for ~12 s now\n"));
  EXPECT_THAT(stall_held(R"({"lock": "mutex", "pid": 100, "process": "server", "tid": 152,
      "comm": "worker", "deadlock": false, "does": "runs", "does_seconds": null})"),
              HasSubstr("\n    held by    worker[152] in server[100] (mutex), runs\n"));
  EXPECT_THAT(stall_held(R"({"lock": "file_lock", "pid": 812, "process": "backup", "tid": null,
      "comm": null, "deadlock": false})"),
              HasSubstr("\n    held by    backup[812] (file lock)\n"));
  EXPECT_THAT(stall_held(R"({"lock": "python_gil", "pid": 812, "process": "python3", "tid": 815,
      "comm": "crawler", "deadlock": false})"),
              HasSubstr("\n    held by    crawler[815] in python3[812] (GIL of Python)\n"));
  EXPECT_THAT(
      stalls_text_of(R"({"stalls": [{"for": "lock", "site": "mutex", "held_by": {"lock": "mutex",
      "pid": 100, "process": "server", "tid": 152, "comm": "worker"},
      "waits_for": {"futex": {"id": "#a"}}}]})"),
      HasSubstr("  mutex of worker[152] in server[100]\n"))
      << "whom comes before what";
  EXPECT_THAT(stall_held(R"({"lock": "mutex", "pid": null, "process": null, "tid": null,
      "comm": null})"),
              HasSubstr("\n    held by    -[-] (mutex)\n"));
}

TEST(StallsText, SaysWhoReleasedSuchLocksBefore) {
  const auto released = [](const std::string& by) {
    return stalls_text_of(
        R"({"stalls": [{"for": "lock", "site": "row-lock", "released_by": {"seen": 23,
        "nobody": 0.1, "by": [)" +
            by + "]}}]}",
        true);
  };
  EXPECT_THAT(
      released(R"({"process": "app", "pid": 9, "thread": "kee\u001bper", "tid": 12,
                           "share": 0.95, "error": 0.04})"),
      HasSubstr(
          "\n    released   by kee\\x1bper[12] in app[9], 95 % ± 4.0 % of the time of 23 waits "
          "seen\n"));
  EXPECT_THAT(
      released(R"({"process": "postgres", "pid": 7, "thread": "postgres", "tid": 7,
                           "share": 1, "error": 0.01})"),
      HasSubstr("\n    released   by postgres[7], 100 % ± 1.0 % of the time of 23 waits seen\n"));
  EXPECT_THAT(released(R"({"process": "java", "pid": null, "thread": null, "share": 1e300,
                           "error": 0.5})"),
              HasSubstr("\n    released   by java, 100 % ± 50 % of the time of 23 waits seen\n"));
  EXPECT_THAT(released(""), Not(HasSubstr("released")));
  EXPECT_THAT(released(R"({"process": "java", "share": "all"})"), Not(HasSubstr("released")));
}

// Each has a socket of its own, with a port of its own, and a process of the server.
TEST(StallsText, WaitersOnOnePeerAreOneGroup) {
  const auto on = [](int tid, const char* peer) {
    return R"({"state": "in_progress", "pid": 100, "tid": )" + std::to_string(tid) +
           R"(, "comm": "w", "process": "w", "cgroup": "/", "for": "answer", "site": "http",
           "waits_for": {"file": {"fd": )" +
           std::to_string(tid) + R"(, "path": "socket"}, "socket": "tcp 10.0.0.1:3)" +
           std::to_string(tid) + R"( -> 10.0.0.2:5432 ESTABLISHED"}, "waits_on": {"on": ")" + peer +
           R"(", "comm": "postgres", "pid": 4)" + std::to_string(tid) + "}}";
  };
  const std::string text =
      stalls_text_of(R"({"dropped": 0, "matching": 3, "stalls": [)" + on(110, "db") + "," +
                         on(111, "db") + "," + on(112, "mail") + "]}",
                     true);
  EXPECT_THAT(text, HasSubstr("with       1 more: 100/111"));
  EXPECT_THAT(text, HasSubstr("2        answer  http"));
  EXPECT_THAT(text, HasSubstr("1        answer  http"));
}

// How many lines the stalls take, each of them an object without its end: "for" and so on follow.
std::ptrdiff_t lines_of(std::initializer_list<std::string> stalls) {
  std::string list;
  for (const std::string& stall : stalls) {
    list += (list.empty() ? "" : ",") + (R"({"state": "in_progress", "site": "s", )" + stall + "}");
  }
  const std::string text = stalls_text_of(R"({"stalls": [)" + list + "]}");
  return std::ranges::count(text, '\n') - 2;  // the head, and the line about -v
}

// One cause is one group, however many units it stops.
TEST(StallsText, WaitersForOneHolderAreOneGroupInAllUnits) {
  const auto stall = [](const char* unit, const char* comm, int futex, int holder) {
    return R"("for": "lock", "process": ")" + std::string(comm) + R"(", "unit": ")" + unit +
           R"(", "waits_for": {"futex": {"id": "#)" + std::to_string(futex) +
           R"("}}, "held_by": {"lock": "mutex", "pid": 100, "process": "server", "tid": )" +
           std::to_string(holder) + R"(, "comm": "worker"})";
  };
  const std::string one = stall("a.service", "x", 1, 152),
                    elsewhere = stall("b.service", "y", 2, 152);
  EXPECT_EQ(lines_of({one, elsewhere, one, stall("a.service", "x", 1, 153)}), 2);
  EXPECT_THAT(stalls_text_of(R"({"stalls": [{"site": "s", )" + one + R"(}, {"site": "s", )" +
                             elsewhere + "}, {\"site\": \"s\", " + elsewhere + "}]}"),
              HasSubstr("  a.service and 1 more  mutex of worker[152] in server[100]\n"));
}

TEST(StallsText, WaitersForOneFileLockAreOneGroupInAllUnits) {
  const auto stall = [](const char* unit, int fd, const char* path, const char* device,
                        const char* wait_for = "lock") {
    return R"("for": ")" + std::string(wait_for) + R"(", "process": "cron", "unit": ")" + unit +
           R"(", "waits_for": {"file": {"fd": )" + std::to_string(fd) + R"(, "path": ")" + path +
           R"(", "device": ")" + device + R"("}})";
  };
  EXPECT_EQ(lines_of({stall("a.service", 3, "/run/lock/x", "0:25"),
                      stall("b.service", 4, "/run/lock/x", "0:25")}),
            1);
  EXPECT_EQ(lines_of({stall("a.service", 3, "/run/lock/x", "0:25"),
                      stall("a.service", 3, "/run/lock/y", "0:25"),
                      stall("b.service", 3, "/run/lock/x", "0:31")}),
            3)
      << "other files";
  EXPECT_EQ(lines_of({stall("a.service", 3, "/srv/x", "8:1", "storage"),
                      stall("a.service", 4, "/srv/x", "8:1", "storage"),
                      stall("b.service", 3, "/srv/x", "8:1", "storage")}),
            2)
      << "no lock";
}

// The number of a file says nothing outside of its process.
TEST(StallsText, WaitersAtOneSetOfFilesAreOneGroupOnlyInOneProcess) {
  const auto stall = [](int pid, int fd, const char* more = "") {
    return R"("for": "answer", "process": "node", "unit": "a.service", "pid": )" +
           std::to_string(pid) + R"(, "waits_for": {"file": {"fd": )" + std::to_string(fd) +
           R"(, "path": "anon_inode:[eventpoll]"}})" + more;
  };
  EXPECT_EQ(lines_of({stall(7, 5), stall(7, 5), stall(8, 5), stall(7, 6)}), 3);
  const char* peer = R"(, "waits_on": {"on": "db.service"})";
  EXPECT_EQ(lines_of({stall(7, 5, peer), stall(7, 6, peer), stall(8, 5, peer)}), 1);
}

TEST(StallsText, SaysWhatIsNotShown) {
  EXPECT_EQ(stalls_text_of(R"({"dropped": 0, "matching": 0, "stalls": []})"), kNothing);
  EXPECT_THAT(stalls_text_of(R"({"dropped": 5, "matching": 8, "stalls": [{"comm": "a"}]})"),
              testing::EndsWith(
                  "7 more are not shown (--limit)\n5 older ones are not kept (stalls.keep)\n"));
  EXPECT_EQ(stalls_text_of(R"({"beyond_limit": 12, "matching": 0, "stalls": []})"),
            kNothing + "12 more of this host are beyond the limit; they are told when they end\n");
}

// Waiters behind one lock are one group; those behind another, or nobody knows what, are not.
TEST(StallsText, WaitersWithOneCauseAreOneGroup) {
  const auto stall = [](int tid, const std::string& futex, const char* site) {
    return R"({"state": "in_progress", "pid": 7, "tid": )" + std::to_string(tid) +
           R"(, "comm": "w", "process": "shopd", "unit": "a.service", "for": "lock", "site": ")" +
           site + R"(", "reason": "lock", "waits_for": {"futex": {"id": ")" + futex + "\"}}}";
  };
  const std::string text = stalls_text_of(
      "{\"stalls\": [" + stall(1, "#a", "mutex") + "," + stall(2, "#b", "mutex") + "," +
      stall(3, "#a", "mutex") + "," + stall(4, "#a", "mutex") + "," + stall(5, "#a", "x") + "]}");
  EXPECT_EQ(std::ranges::count(text, '\n'), 1 + 3 + 1) << text;
  EXPECT_THAT(text, HasSubstr("stuck  -      3        lock  mutex  shopd/w         7/1  "));
}

// What is left out is named, never passed over as nothing.
TEST(StallsText, SaysHowManyLongWaitsAreNoStalls) {
  EXPECT_EQ(
      stalls_text_of(
          R"({"stalls": [], "not_told": {"work": 12, "timer": 3, "unknown": 2, "child": 1}})"),
      kNothing +
          "left out on this host, though as long: 12 wait for work, 3 for a timer, 1 for their own "
          "children, 2 for what nobody can tell (--for unknown shows them)\n");
  EXPECT_EQ(stalls_text_of(R"({"stalls": [], "not_told": {"work": 0, "timer": 0, "unknown": 0}})"),
            kNothing);
  const std::string unsure =
      stalls_text_of(R"({"stalls": [{"comm": "a", "for": "answer", "site": "x",
                                         "certain": false}]})");
  EXPECT_THAT(unsure, HasSubstr("answer?"));
  EXPECT_THAT(unsure, HasSubstr("? not certain"));
}

// After those that are certain, by place: the threads need not wait for one thing.
TEST(StallsText, UnusualWaitsAreAGroupOfTheirOwn) {
  const auto wait = [](int tid) {
    return R"({"state": "in_progress", "duration_seconds": 23, "pid": 7, "tid": )" +
           std::to_string(tid) + R"(, "comm": "w", "process": "shopd", "unit": "a.service",
             "for": "unknown", "site": null, "certain": false, "reason": "pipe",
             "user_stack": ["read [libc.so.6]", "take"], "since": "2026-11-20T11:59:47.500Z",
             "waits_for": {"file": {"fd": )" +
           std::to_string(tid) + R"(}},
             "usual": {"waits": 1200, "p99_seconds": 0.005, "longest_seconds": 0.04,
                       "seen_seconds": 720}})";
  };
  const std::string unusual = R"("unusual": [)" + wait(1) + "," + wait(2) + "]";
  EXPECT_EQ(
      stalls_text_of(R"({"stalls": [], "not_told": {"unknown": 2}, )" + unusual + "}", true),
      kNothing +
          "unusual: nobody can tell what for, but waits there are far shorter, and the unit has "
          "work to "
          "do\n"
          "STATE  LASTS  THREADS  FOR      SITE  PROCESS/THREAD  PID/TID  UNIT OR CGROUP  WAITS "
          "FOR\n"
          "stuck  23 s   2        unknown  -     shopd/w         7/1      a.service       fd 1\n"
          "    since      2026-11-20T11:59:47.500Z\n"
          "    usually    5 ms at most for 99 % of 1,200 waits, the longest 40 ms; known for 12 "
          "min\n"
          "    reason     pipe\n"
          "    waits for  fd 1\n"
          "    with       1 more: 7/2\n"
          "    stack      read [libc.so.6] < take\n"
          "left out on this host, though as long: 2 for what nobody can tell (--for unknown shows "
          "them)\n");
  const std::string both = stalls_text_of(R"({"stalls": [{"comm": "stuck"}], )" + unusual + "}");
  EXPECT_LT(both.find("stuck"), both.find("unusual: "));
  EXPECT_EQ(stalls_text_of(R"({"stalls": [], "unusual": []})"), kNothing);
  EXPECT_EQ(stalls_text_of(R"({"stalls": [], "unusual": null})"), kNothing);
}

TEST(StallsText, SaysHowLongAgoItEnded) {
  const auto ended = [](const char* ago) {
    return stalls_text_of(std::string(R"({"stalls": [{"state": "ended", "ended_at": "x",
        "ended_ago_seconds": )") +
                          ago + R"(, "duration_seconds": 90}]})");
  };
  EXPECT_THAT(ended("14.2"), HasSubstr("\nended 14 s ago  1 min 30 s  "));
  EXPECT_THAT(ended("7300"), HasSubstr("\nended 2 h 2 min ago  "));
  EXPECT_THAT(ended("0"), HasSubstr("\nended  1 min 30 s  "));
  EXPECT_THAT(ended("\"\""), HasSubstr("\nended  1 min 30 s  "));
}

// A thread of a pool that waits for work, which no rule knows, is not stuck.
TEST(StallsText, WhatIsNoStallWaits) {
  const auto listed = [](const std::string& untold, int unknown, bool of_unknown = true) {
    return stalls_text_of(R"({"stalls": [{"state": "in_progress", "told": true, "for": "lock"},)" +
                              untold + R"(], "not_told": {"work": 3, "unknown": )" +
                              std::to_string(unknown) + "}}",
                          false, of_unknown);
  };
  const std::string pool = R"({"state": "in_progress", "told": false, "for": "unknown"})";
  const std::string text = listed(pool + "," + pool, 2);
  EXPECT_THAT(text, HasSubstr("\nstuck  -      1        lock "));
  EXPECT_THAT(text, HasSubstr("\nwaits  -      1        unknown "));
  EXPECT_THAT(text, testing::EndsWith("\nleft out on this host, though as long: 3 wait for work\n"))
      << "both are shown";
  EXPECT_THAT(listed(pool, 5), testing::EndsWith(": 3 wait for work, 4 for what nobody can tell\n"))
      << "they were asked for";
  EXPECT_THAT(listed(R"({"state": "in_progress", "told": false, "for": "answer"})", 5, false),
              testing::EndsWith(", 4 for what nobody can tell (--for unknown shows them)\n"));
}

// As where a unit was asked for that has none.
TEST(StallsText, WhatWasTypedAlreadyIsNoHint) {
  const std::string none = R"({"stalls": [], "not_told": {"work": 3, "unknown": 2}})";
  EXPECT_EQ(stalls_text_of(none, false, true),
            "no thread waits for so long of which nobody can tell what for\n"
            "left out on this host, though as long: 3 wait for work, 2 for what nobody can tell\n");
}

// One is certain to be stuck, another one at the same place may be.
TEST(StallsText, WhatIsToldAndWhatIsNotAreTwoGroups) {
  const std::string same = R"("for": "answer", "site": "http", "process": "w", "waits_on":
      {"on": "db"}})";
  EXPECT_EQ(std::ranges::count(stalls_text_of(R"({"stalls": [{"told": true, )" + same +
                                              R"(, {"told": false, )" + same + "]}"),
                               '\n'),
            1 + 2 + 1);
}

TEST(StallsText, SaysOnceHowToSeeWhatIsHidden) {
  const std::string hidden =
      "arguments and paths are not shown: run with sudo, or log in, to see them\n";
  const std::string stall = R"({"comm": "a", "syscall": {"number": 0, "name": "read"}})";
  EXPECT_THAT(
      stalls_text_of(R"({"addresses": false, "stalls": [)" + stall + "," + stall + "]}", true),
      testing::EndsWith("    in         read(...)\n" + hidden));
  EXPECT_THAT(stalls_text_of(R"({"addresses": true, "stalls": [)" + stall + "]}"),
              testing::Not(HasSubstr(hidden)));
  EXPECT_THAT(stalls_text_of(R"({"addresses": false, "stalls": [{"comm": "a", "syscall": null}]})"),
              testing::Not(HasSubstr(hidden)));
}

TEST(StallsText, WritesOutWhatATerminalWouldObey) {
  const std::string text = stalls_text_of(R"({"stalls": [{
    "state": "\u001b", "since": "\u001b", "pid": "\u001b", "tid": "\u001b", "comm": "\u001b[2J\n",
    "process": "\r", "cgroup": "\u001b", "reason": "\u001b",
    "syscall": {"name": "\u001b", "arguments": ["\u001b"]},
    "waits_for": {"futex": {"address": "\u001b", "owner": {"tid": "\u001b", "comm": "\u001b"}},
                  "file": {"path": "\u001b", "fd": "\u001b", "device": "\u001b"},
                  "socket": "\u001b"},
    "stack": ["\u001b"], "woken_by": {"from": "\u001b", "tid": "\u001b", "comm": "\u001b"}}]})",
                                          true);
  EXPECT_THAT(text, HasSubstr("\\x1b[2J\\x0a"));
  EXPECT_TRUE(std::ranges::none_of(text, [](char c) { return c != '\n' && c >= 0 && c < 0x20; }));
  EXPECT_EQ(std::ranges::count(text, '\n'), 8);
}

TEST(StallsText, RefusesWhatIsNoListOfStalls) {
  for (const char* body : {"", "<html>", "[1]", "{}", "{\"stalls\": 1}", "\xff"}) {
    EXPECT_EQ(stalls_text_of(body), "error: the answer is not a list of stalls of offcpud") << body;
  }
  // Anything may answer at an address: strange entries are shown as far as they go.
  EXPECT_THAT(
      stalls_text_of(R"({"stalls": [1, null, [], {"comm": {}, "stack": 1, "duration_seconds": 1e300,
                          "waits_for": [], "syscall": {"arguments": {}}}]})"),
      HasSubstr("PROCESS/THREAD"));
}

}  // namespace
}  // namespace offcpud
