// SPDX-License-Identifier: Apache-2.0
#include "api/changes_handler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "api/changes_query.h"
#include "changes/chosen_ranges.h"
#include "support/fake_clock.h"
#include "support/times.h"
#include "unit/api/memory_library.h"
#include "unit/http/later_response.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::kNow;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// One snapshot a minute, in each of which a unit waits for a lock.
class MinuteLibrary final : public test::MemoryLibrary {
 public:
  // Minutes ago; the seconds that db.service waits for a lock.
  void put(int minutes_ago, int seconds) {
    Snapshot snapshot;
    snapshot.sequence = snapshots.size() + 1;
    snapshot.begin = kNow - std::chrono::minutes(minutes_ago);
    snapshot.end = snapshot.begin + 1min;
    snapshot.entries = {{.cgroup = "/system.slice/db.service",
                         .wait_for = WaitFor::Lock,
                         .site = "row-lock",
                         .ns = static_cast<std::uint64_t>(seconds) * 1'000'000'000}};
    snapshots.emplace(snapshot.sequence, std::move(snapshot));
  }
};

class ChangesHandlerTest : public ::testing::Test {
 protected:
  ChangesHandlerTest() { clock_.step_wall(kNow - clock_.wall()); }

  // An hour and a half, with the change ten minutes ago.
  void fill() {
    for (int minute = 90; minute > 0; --minute) library_.put(minute, minute > 10 ? 6 : 60);
  }

  // A window in which threads of new.service wait for a lock, four of them if it takes 10 s.
  void examine(std::chrono::seconds begin_ago, std::chrono::seconds length) {
    const auto text = [](const char* t) { return std::make_shared<const std::string>(t); };
    view_->taken = clock_.now();
    view_->taken_wall = clock_.wall();
    auto made = std::make_shared<SiteWindow>();
    made->begin = clock_.now() - begin_ago;
    made->end = made->begin + length;
    made->sites = {{.cgroup = text("/system.slice/new.service"),
                    .site = text("monitor"),
                    .wait_for = WaitFor::Lock,
                    .time = {.ns = 4e10}}};
    view_->site_history.push_back(made);
  }

  Response ask(Parameters query, bool sees_details = true) {
    return test::resolved(
        handler_.changes({.method = "GET", .query = std::move(query), .sees_details = sees_details},
                         view_, cpu_history_));
  }
  json ask_json(Parameters query = {}) {
    const Response response = ask(std::move(query));
    EXPECT_EQ(response.status, 200U) << test::body_of(response);
    return json::parse(test::body_of(response));
  }
  std::string refusal(Parameters query, unsigned status) {
    const Response response = ask(std::move(query));
    EXPECT_EQ(response.status, status);
    return json::parse(test::body_of(response))["error"];
  }

  MinuteLibrary library_;
  RequestWorker worker_;
  FakeClock clock_;
  std::shared_ptr<View> view_ = std::make_shared<View>();
  CpuSteps cpu_history_;
  ChangesHandler handler_{library_, worker_, clock_,
                          [](std::string_view path) { return path == "/idle.slice"; }};
};

TEST_F(ChangesHandlerTest, WithoutArgumentsTheLastTenMinutesAgainstTheHourBefore) {
  fill();
  const json answer = ask_json();
  EXPECT_EQ(answer["snapshots"], 10);
  EXPECT_EQ(answer["base"]["snapshots"], 60);
  ASSERT_THAT(answer["rows"], SizeIs(1));
  EXPECT_NEAR(answer["rows"][0]["before"].get<double>(), 0.1, 1e-9);
  EXPECT_NEAR(answer["rows"][0]["after"].get<double>(), 1, 1e-9);
  EXPECT_THAT(answer["notes"], SizeIs(1)) << "only about waits for a CPU";
}

TEST_F(ChangesHandlerTest, APastShorterThanTheHourIsSaid) {
  for (int minute = 40; minute > 0; --minute) library_.put(minute, minute > 10 ? 6 : 60);
  const json answer = ask_json();
  EXPECT_EQ(answer["base"]["snapshots"], 30);
  EXPECT_THAT(answer["notes"], Contains(HasSubstr("only 30 min are kept")));
}

TEST_F(ChangesHandlerTest, OfAShortPastOneHalfIsComparedWithTheOther) {
  for (int minute = 8; minute > 0; --minute) library_.put(minute, minute > 4 ? 6 : 60);
  const json answer = ask_json();
  EXPECT_EQ(answer["snapshots"], 4);
  EXPECT_EQ(answer["base"]["snapshots"], 4);
  EXPECT_NEAR(answer["rows"][0]["change"].get<double>(), 0.9, 1e-9);
  EXPECT_THAT(answer["notes"], Contains("of the last 70 min only the last 8 min are kept, so both "
                                        "ranges are shorter than 10 min and the hour before"));
}

// As after a reboot.
TEST_F(ChangesHandlerTest, WhatIsOlderThanTheHourBeforeIsNotCompared) {
  library_.put(24 * 60, 60);
  for (int minute = 8; minute > 0; --minute) library_.put(minute, minute > 4 ? 6 : 60);
  const json answer = ask_json();
  EXPECT_EQ(answer["snapshots"], 4);
  EXPECT_EQ(answer["base"]["snapshots"], 4);
  EXPECT_THAT(answer["notes"], Contains(HasSubstr("only the last 8 min are kept")));
}

// Moments after the start one snapshot is kept, which is not compared with itself.
TEST_F(ChangesHandlerTest, WithoutArgumentsNoSnapshotIsInBothRanges) {
  library_.put(1, 6);
  const std::string yet =
      "there is nothing to compare yet: the kept ones are from "
      "2026-11-20T11:59:00.000Z to 2026-11-20T12:00:00.000Z: ask again in a "
      "minute or two";
  EXPECT_EQ(refusal({}, 404), yet);
  EXPECT_EQ(refusal({{"format", "text"}}, 404), yet);
  clock_.step_wall(10s);
  examine(8s, 8s);
  const json answer = ask_json();
  EXPECT_EQ(answer["base"]["snapshots"], 1);
  EXPECT_EQ(answer["snapshots"], 0);
  EXPECT_NEAR(answer["covered_seconds"].get<double>(), 8, 1e-6);
  EXPECT_THAT(answer["notes"], Not(Contains(HasSubstr("overlap"))));
  EXPECT_THAT(answer["notes"], Contains(HasSubstr("only the last 1 min 10 s are kept")));
}

// It would count twice.
TEST_F(ChangesHandlerTest, AWindowThatBeganWithinTheLastSnapshotIsLeftOut) {
  fill();
  clock_.step_wall(4s);
  examine(7s, 7s);
  EXPECT_NEAR(ask_json()["covered_seconds"].get<double>(), 10 * 60, 1e-6);
  examine(5s, 5s);
  EXPECT_NEAR(ask_json()["covered_seconds"].get<double>(), 10 * 60 + 5, 1e-6)
      << "the clocks may differ by as much";
}

// Snapshots of an hour: the last one is of the range before, as its middle is.
TEST_F(ChangesHandlerTest, OfLongSnapshotsTheLastTwoAreCompared) {
  const auto put = [&](std::chrono::minutes begin_ago) {
    library_.put(static_cast<int>(begin_ago.count()), 6);
    library_.snapshots.rbegin()->second.end += 59min;
  };
  put(125min);
  put(65min);
  const json answer = ask_json();
  EXPECT_EQ(answer["snapshots"], 1);
  EXPECT_EQ(answer["base"]["snapshots"], 1);
  EXPECT_EQ(answer["base"]["end"], answer["begin"]);
}

TEST_F(ChangesHandlerTest, NoSnapshotIsInBothRangesUnlessTheyOverlap) {
  fill();
  // 30 s into a snapshot: it belongs to one of the ranges.
  const json apart = ask_json({{"from", "-330s"}, {"base_from", "-630s"}});
  EXPECT_EQ(apart["snapshots"], 6);
  EXPECT_EQ(apart["base"]["snapshots"], 5);
  EXPECT_EQ(apart["base"]["end"], apart["begin"]);
  EXPECT_THAT(apart["notes"], Not(Contains(HasSubstr("overlap"))));
  EXPECT_THAT(apart["notes"], Contains(HasSubstr("the later range is rounded to whole snapshots")));
  const json overlap = ask_json({{"from", "-5min"}, {"base_from", "-10min"}, {"base_to", "-3min"}});
  EXPECT_THAT(overlap["notes"],
              Contains("the ranges overlap by 2 min, which hides changes; they do not with "
                       "base_to=2026-11-20T11:55:00.000Z"));
  const json same = ask_json({{"from", "-5min"}, {"base_from", "-5min"}, {"base_to", "-3min"}});
  EXPECT_THAT(same["notes"], Contains("the ranges overlap by 2 min, which hides changes; use an "
                                      "earlier base_to"));
}

TEST_F(ChangesHandlerTest, ForPeopleItSaysWhatToTypeInTheWordsOfTheCommand) {
  fill();
  const std::string overlap = test::body_of(
      ask({{"from", "-5min"}, {"base_from", "-10min"}, {"base_to", "-3min"}, {"format", "text"}}));
  EXPECT_THAT(overlap, HasSubstr("; they do not with --base-to 2026-11-20T11:55:00.000Z\n"));
  EXPECT_THAT(overlap, Not(HasSubstr("base_to")));
  EXPECT_THAT(refusal({{"base_from", "-9h"}, {"base_to", "-8h"}, {"format", "text"}}, 404),
              HasSubstr("; use --from, --to, --base-from and --base-to"));
}

TEST_F(ChangesHandlerTest, ARangeShorterThanASnapshotUsesTheOneAroundIt) {
  fill();
  const json answer =
      ask_json({{"from", "-20s"}, {"to", "-10s"}, {"base_from", "-30min"}, {"base_to", "-29min"}});
  EXPECT_EQ(answer["snapshots"], 1);
  EXPECT_EQ(answer["base"]["snapshots"], 1);
}

TEST_F(ChangesHandlerTest, WindowsAfterTheLastSnapshotAreOfTheLaterRange) {
  for (int minute = 90; minute > 1; --minute) library_.put(minute, 6);
  examine(75s, 10s);  // a snapshot covers it
  examine(10s, 10s);
  const json answer = ask_json();
  EXPECT_EQ(answer["rows"][0]["unit"], "new.service");
  EXPECT_NEAR(answer["covered_seconds"].get<double>(), 9 * 60 + 10, 1e-6);
  EXPECT_NEAR(answer["rows"][0]["after"].get<double>(), 40.0 / (9 * 60 + 10), 1e-9);
}

// Minutes of half an hour; of the last ten, steps of 10 s, which do not begin with one of them.
TEST_F(ChangesHandlerTest, WaitsForACpuOfTheLastMinutesAreOfShortSteps) {
  fill();
  const auto labels = std::make_shared<const SubjectLabels>(labels_of_cgroup("/batch.service"));
  CpuHistory minutes;
  for (int i = 0; i < 180; ++i) {
    auto step = std::make_shared<WaitStep>();
    step->begin = MonotonicTime(1'000s + i * 10s);
    step->end = step->begin + 10s;
    step->end_wall = kNow - (179 - i) * 10s;
    // It wants a CPU since 30 s ago.
    const std::uint64_t ns = i < 177 ? 0 : 5'000'000'000;
    step->subjects = {{.labels = labels, .waits = 1, .running_ns = ns}};
    step->waits = {{.kind = OFFCPUD_RUNQ_WAKEUP, .waited_ns = ns}};
    view_->history.push_back(step);
    cpu_history_ = minutes.record(view_->history);
    if (view_->history.size() > 62) view_->history.erase(view_->history.begin());
  }
  const json answer = ask_json({{"from", "-30s"}, {"base_from", "-25min"}, {"for", "cpu"}});
  EXPECT_NEAR(answer["cpu_covered_seconds"].get<double>(), 30, 1e-9);
  EXPECT_NEAR(answer["base"]["cpu_covered_seconds"].get<double>(), 24.5 * 60, 60)
      << "no step is there twice, and none is missing";
  ASSERT_THAT(answer["running"], SizeIs(1));
  EXPECT_NEAR(answer["running"][0]["after"].get<double>(), 0.5, 1e-9);
  EXPECT_NEAR(answer["running"][0]["before"].get<double>(), 0, 1e-9);
  ASSERT_THAT(answer["rows"], SizeIs(1));
  EXPECT_NEAR(answer["rows"][0]["after"].get<double>(), 0.5, 1e-9);
}

TEST_F(ChangesHandlerTest, ErrorsSayWhatIsKept) {
  EXPECT_THAT(refusal({}, 404), HasSubstr("no snapshot is kept so far"));
  fill();
  EXPECT_THAT(refusal({{"base_from", "-9h"}, {"base_to", "-8h"}}, 404),
              HasSubstr("no snapshot in the earlier range of time; the kept ones are from "
                        "2026-11-20T10:30:00.000Z to 2026-11-20T12:00:00.000Z; use from"));
  EXPECT_THAT(refusal({{"unit", "ngnix"}}, 404), HasSubstr("belongs to a unit called \"ngnix\""));
  EXPECT_EQ(ask({{"cgroup", "/idle.slice"}}).status, 200U) << "it lives, and did not wait";
  EXPECT_THAT(refusal({{"fro", "now"}}, 400), HasSubstr("unknown parameter"));
  EXPECT_THAT(test::body_of(ask({{"site", "row-lock"}}, false)), HasSubstr("may not see sites"));
}

TEST_F(ChangesHandlerTest, MoreSnapshotsThanCanBeReadInSecondsAreRefused) {
  std::vector<StoredSnapshot> kept;
  for (std::uint64_t i = 0; i < 5'000; ++i) {
    const WallTime begin = kNow - 5'000min + std::chrono::minutes(i);
    kept.push_back({.name = {.sequence = i, .begin = begin, .end = begin + 1min}});
  }
  auto query = *ChangesQuery::parse({{"from", "-30h"}, {"base_from", "-80h"}}, kNow);
  const auto chosen = choose_snapshots(kept, query, false);
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().message(),
            "these ranges hold 4800 snapshots, and at most 3000 are compared at once; use shorter "
            "ranges");
}

TEST_F(ChangesHandlerTest, ADamagedSnapshotIsMissingAndSaid) {
  fill();
  library_.damaged = 90;
  const json answer = ask_json();
  EXPECT_EQ(answer["unreadable"], 1);
  EXPECT_THAT(answer["notes"],
              Contains("1 snapshots of the later range cannot be read and are missing"));
}

TEST_F(ChangesHandlerTest, TextIsForPeople) {
  fill();
  const Response response = ask({{"format", "text"}});
  EXPECT_EQ(response.content_type, "text/plain; charset=utf-8");
  EXPECT_THAT(test::body_of(response), HasSubstr("db.service                 lock      row-lock"));
  const std::string hidden = test::body_of(ask({{"format", "text"}}, false));
  EXPECT_THAT(hidden, HasSubstr("note: sites are shown to clients that may see details\n"));
  EXPECT_THAT(hidden, ::testing::Not(HasSubstr("row-lock")));
}

}  // namespace
}  // namespace offcpud
