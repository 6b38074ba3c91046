// SPDX-License-Identifier: Apache-2.0
#include "ctl/status_text.h"

#include <gtest/gtest.h>

#include <string>

namespace offcpud {
namespace {

std::string status_text_of(const std::string& json) {
  const auto text = status_text(json);
  return text ? *text : "error: " + text.error().message();
}

TEST(StatusText, AlignsScalarsAndIndentsTheRest) {
  EXPECT_EQ(status_text_of(R"({
    "version": "0.1.0", "ready": true, "passes": 17, "last_error": null, "ratio": 0.5,
    "kernel": {"btf": "yes", "task_storage": false, "empty": {}, "list": [1, "two"]},
    "losses": [{"cause": "map_full", "count": 3}, {"cause": "clock", "count": 0}],
    "mixed": [1, [2, 3]], "warnings": []})"),
            "version     0.1.0\n"
            "ready       yes\n"
            "passes      17\n"
            "last_error  -\n"
            "ratio       0.5\n"
            "kernel:\n"
            "  btf           yes\n"
            "  task_storage  no\n"
            "  empty         none\n"
            "  list          1, two\n"
            "losses:\n"
            "  - cause  map_full\n"
            "    count  3\n"
            "  - cause  clock\n"
            "    count  0\n"
            "mixed:\n"
            "  - 1\n"
            "  - 2, 3\n"
            "warnings    none\n");
}

TEST(StatusText, BeginsWithTheVerdict) {
  EXPECT_EQ(status_text_of(R"({"version": "0.1.0", "summary": "2 cgroups, last pass 1 s ago"})"),
            "2 cgroups, last pass 1 s ago\n\nversion  0.1.0\n");
}

TEST(StatusText, BeforeItComesWhatIsWaitedForNow) {
  EXPECT_EQ(
      status_text_of(R"({"waiting": ["waiting for a lock: 8.00 threads\u001b[2J", "stalls: 8"],
                        "summary": "2 cgroups", "version": "0.1.0"})"),
      "waiting for a lock: 8.00 threads\\x1b[2J\nstalls: 8\n\n2 cgroups\n\nversion  0.1.0\n");
}

TEST(StatusText, RoundsWhatIsNotWhole) {
  EXPECT_EQ(
      status_text_of(R"({"a": 4.007888871, "b": 0.000320795, "c": 123456.789, "d": 99.96, "e": 90.0,
                        "f": 1e300, "g": -3.14159, "h": 123456789})"),
      "a  4.01\nb  0.000321\nc  123457\nd  100\ne  90\nf  1e+300\ng  -3.14\n"
      "h  123,456,789\n");
}

TEST(StatusText, SaysDurationsAsPeopleDo) {
  EXPECT_EQ(status_text_of(R"({"uptime_seconds": 90, "passes": 3, "error_seconds": null,
                        "last_pass": {"age_seconds": 2.5, "duration_seconds": 0.003}})"),
            "uptime         1 min 30 s\n"
            "passes         3\n"
            "error_seconds  -\n"
            "last_pass:\n"
            "  age       2.5 s\n"
            "  duration  3 ms\n");
}

TEST(StatusText, NumbersHaveTheirUnits) {
  EXPECT_EQ(status_text_of(R"({"own_use": {"resident_bytes": 96000000, "overhead_ratio": 0.0123},
                        "series": 9958, "sent_bytes": null})"),
            "own_use:\n"
            "  resident  96.0 MB\n"
            "  overhead  1.2 %\n"
            "series      9,958\n"
            "sent_bytes  -\n");
}

TEST(StatusText, CallsSubjectsCgroups) {
  EXPECT_EQ(status_text_of(R"({"passes": 3, "subjects": 1, "series": 2})"),
            "passes   3\ncgroups  1\nseries   2\n");
}

TEST(StatusText, AThreadIsAWordUnlessItIsStuck) {
  EXPECT_EQ(status_text_of(
                R"({"threads": [{"thread": "main", "state": "busy", "work": "a", "busy_seconds": 1},
                        {"thread": "writer", "state": "stuck", "sentence": "thread writer has been w"}]})"),
            "threads:\n"
            "  busy   main\n"
            "  stuck  thread writer has been w\n");
}

// A host under attack has many of each: the worst are shown, and where the others are; of losses
// all.
TEST(StatusText, ListsHaveFewLines) {
  std::string threads, maps, causes, processes;
  for (int i = 1; i <= 16; ++i) {
    const std::string n = std::to_string(i), comma = i > 1 ? "," : "";
    threads += comma + R"({"thread": "t)" + n + R"(", "state": "idle"})";
    maps += comma + R"({"map": "m)" + n + R"(", "entries": )" + n + R"(, "capacity": 100})";
    causes += comma + R"("c)" + n + R"(": )" + (i > 6 ? "0" : n);
    processes += comma + R"({"pid": )" + n + R"(, "uid": null, "mappings": )" + n + "000}";
  }
  EXPECT_EQ(status_text_of(R"({"threads": [)" + threads + R"(], "maps": [)" + maps +
                           R"(], "lost_events": {)" + causes + R"(}, "over_share": [)" + processes +
                           "]}"),
            "threads:\n"
            "  idle  t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14, t15, t16\n"
            "maps:\n"
            "  m16  16 of 100\n"
            "  m15  15 of 100\n"
            "  m14  14 of 100\n"
            "  and  13 more: offcpuctl status --json has all\n"
            "lost_events:\n"
            "  c6  6\n"
            "  c5  5\n"
            "  c4  4\n"
            "  c3  3\n"
            "  c2  2\n"
            "  c1  1\n"
            "over_share:\n"
            "  process 16  16,000 mappings\n"
            "  process 15  15,000 mappings\n"
            "  process 14  14,000 mappings\n"
            "  and         13 more: offcpuctl status --json has all\n");
  EXPECT_EQ(status_text_of(
                R"({"lost_events": {"a": 0, "takers_full": 7}, "over_share": [{"pid": 7, "uid": 8,
                        "mappings": 9}]})"),
            "lost_events  none\n"
            "over_share:\n"
            "  process 7  9 mappings, uid 8\n");
}

TEST(StatusText, ListsOnlyMissingFeaturesInFull) {
  EXPECT_EQ(status_text_of(R"({"features": [
      {"name": "btf", "enabled": true, "detail": "types"},
      {"name": "throttled", "enabled": false, "detail": "not told apart; needs Linux 6.18"},
      {"name": "cgroup2", "enabled": true, "detail": "hierarchy"}], "passes": 1})"),
            "features  btf, cgroup2\n"
            "features_missing:\n"
            "  throttled  not told apart; needs Linux 6.18\n"
            "passes    1\n");
}

TEST(StatusText, ShowsFeaturesThatItDoesNotUnderstandAsTheyAre) {
  EXPECT_EQ(status_text_of(R"({"features": [{"name": "btf", "enabled": 2}]})"),
            "features:\n  - name     btf\n    enabled  2\n");
  EXPECT_EQ(status_text_of(R"({"features": 7})"), "features  7\n");
}

TEST(StatusText, WritesOutWhatATerminalWouldObey) {
  EXPECT_EQ(status_text_of(R"({"a\u001b[2J": "x\ny"})"), "a\\x1b[2J  x\\x0ay\n");
}

TEST(StatusText, RefusesWhatIsNoStatus) {
  for (const char* body : {"", "<html>", "[1]", "null", "{\"a\": ", "\xff"}) {
    EXPECT_EQ(status_text_of(body), "error: the answer is not a status of offcpud") << body;
  }
}

TEST(StatusText, DepthIsBounded) {
  std::string json = "{\"a\":";
  for (int i = 0; i < 10'000; ++i) json += "[1,";
  json += "2" + std::string(10'000, ']') + "}";
  EXPECT_NE(status_text_of(json).find("...\n"), std::string::npos);
}

TEST(ErrorSentence, IsTheErrorOfTheAnswer) {
  EXPECT_EQ(error_sentence(R"({"error": "not ready yet"})"), "not ready yet");
  EXPECT_EQ(error_sentence(R"({"error": 5})"), "");
  EXPECT_EQ(error_sentence("<html>"), "");
}

}  // namespace
}  // namespace offcpud
