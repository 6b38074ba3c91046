// SPDX-License-Identifier: Apache-2.0
#include "api/snapshot_handlers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <latch>
#include <map>
#include <nlohmann/json.hpp>

#include "base/utc.h"
#include "snapshot/pprof.h"
#include "snapshot/snapshot_merge.h"
#include "snapshot/stack_id.h"
#include "support/fake_clock.h"
#include "support/snapshots.h"
#include "unit/api/memory_library.h"
#include "unit/http/later_response.h"
#include "unit/snapshot/folded_lines.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::body_of;
using test::resolved;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

class FakeSnapshotSource final : public SnapshotSource {
 public:
  void take_next(std::chrono::milliseconds length, const BlockFilter& /*filter*/,
                 std::function<void(Result<Snapshot>)> done) override {
    asked = length;
    done(result);
  }
  std::chrono::milliseconds asked{0};
  Result<Snapshot> result = test::ordinary_snapshot();
};

class SnapshotHandlersTest : public ::testing::Test {
 protected:
  using Handler = Response (SnapshotHandlers::*)(const Request&) const;

  // One a minute, from an hour ago to 56 minutes ago.
  SnapshotHandlersTest() {
    clock_.step_wall(WallTime(1'795'176'000s) - clock_.wall());
    for (std::uint32_t i = 1; i <= 4; ++i) {
      Snapshot s = test::random_snapshot(i);
      s.sequence = i;
      s.begin = clock_.wall() - 61min + std::chrono::minutes(i);
      s.end = s.begin + 1min;
      library_.snapshots.emplace(i, std::move(s));
    }
  }

  Response ask(Handler handler, std::multimap<std::string, std::string> query = {}) {
    return resolved((handlers_.*handler)({.method = "GET", .query = std::move(query)}));
  }
  json ask_json(Handler handler, std::multimap<std::string, std::string> query = {}) {
    const Response response = ask(handler, std::move(query));
    EXPECT_EQ(response.status, 200U) << body_of(response);
    EXPECT_EQ(response.content_type, "application/json");
    return json::parse(body_of(response));
  }
  std::uint64_t total(std::initializer_list<std::uint64_t> sequences) const {
    std::uint64_t ns = 0;
    for (const std::uint64_t s : sequences) ns += test::total_ns(library_.snapshots.at(s));
    return ns;
  }

  test::MemoryLibrary library_;
  FakeSnapshotSource source_;
  RequestWorker worker_;
  FakeClock clock_;
  SnapshotHandlers handlers_{library_, source_, worker_, clock_,
                             [](std::string_view path) { return path == "/idle.slice"; }};
};

TEST_F(SnapshotHandlersTest, ListsWhatIsKept) {
  library_.damaged = 3;
  const json list = ask_json(&SnapshotHandlers::list);
  EXPECT_THAT(list["snapshots"], SizeIs(4));
  EXPECT_EQ(list["snapshots"][0]["sequence"], 1);
  EXPECT_EQ(list["snapshots"][0]["begin"], "2026-11-20T11:00:00.000Z");
  EXPECT_EQ(list["snapshots"][2]["unreadable"], true);
  EXPECT_EQ(list["bytes"], 4'000);
  EXPECT_EQ(list["unreadable"], 1);
  EXPECT_EQ(list["foreign_files"], 2);
  EXPECT_THAT(ask_json(&SnapshotHandlers::list, {{"from", "-58min"}})["snapshots"], SizeIs(2));
}

TEST_F(SnapshotHandlersTest, AListWithAFilterSaysHowMuchThereIs) {
  Snapshot& s = library_.snapshots.at(2);
  s.entries = {{.comm = "only", .ns = 1'500'000'000, .episodes = 3}, {.comm = "b", .ns = 5}};
  const json list = ask_json(&SnapshotHandlers::list, {{"comm", "only"}});
  ASSERT_THAT(list["snapshots"], SizeIs(1));
  EXPECT_EQ(list["snapshots"][0]["off_cpu_seconds"], 1.5);
  EXPECT_EQ(list["snapshots"][0]["episodes"], 3);
}

TEST_F(SnapshotHandlersTest, AListByForSaysWhatThreadsWaitedForInEach) {
  const StackEntry lock{.wait_for = WaitFor::Lock, .ns = 1'500'000'000};
  StackEntry child{.reason = OFFCPUD_BLOCKED_CHILD, .wait_for = WaitFor::Answer, .ns = 500'000'000};
  library_.snapshots.at(1).entries = {};
  library_.snapshots.at(2).entries = {lock, lock, child};
  library_.damaged = 3;
  const json list = ask_json(&SnapshotHandlers::list, {{"by", "for"}, {"to", "-56min"}});
  ASSERT_THAT(list["snapshots"], SizeIs(4)) << "each is listed, whatever is in it";
  EXPECT_EQ(list["snapshots"][0]["for"], json::object());
  EXPECT_EQ(list["snapshots"][1]["for"], json::parse(R"({"lock": 3.0})"));
  EXPECT_EQ(list["snapshots"][1]["children"], 0.5);
  EXPECT_EQ(list["snapshots"][2]["unreadable"], true);
  EXPECT_FALSE(list["snapshots"][2].contains("for"));
  EXPECT_EQ(list["unreadable"], 1);
  const json locks = ask_json(&SnapshotHandlers::list, {{"by", "for"}, {"for", "answer"}});
  EXPECT_EQ(locks["snapshots"][0]["sequence"], 2) << "with a filter those that have it";
  EXPECT_FALSE(ask_json(&SnapshotHandlers::list)["snapshots"][0].contains("for"));
}

TEST_F(SnapshotHandlersTest, ACgroupThatIsInNoSnapshotIsAMistakeToTell) {
  for (auto& [sequence, snapshot] : library_.snapshots) {
    snapshot.entries = {{.comm = "a", .cgroup = "/system.slice/nginx.service", .ns = 5}};
  }
  for (const Handler handler :
       {&SnapshotHandlers::list, &SnapshotHandlers::merge, &SnapshotHandlers::difference}) {
    const auto ask_for = [&](const char* cgroup) {
      std::multimap<std::string, std::string> query{{"from", "-59min"}, {"cgroup", cgroup}};
      if (handler == &SnapshotHandlers::difference) query.emplace("base_from", "-61min");
      return ask(handler, std::move(query));
    };
    const Response unknown = ask_for("ngnix.service");
    EXPECT_EQ(unknown.status, 404U);
    EXPECT_THAT(body_of(unknown), HasSubstr("no cgroup in these snapshots belongs to a unit called "
                                            "\\\"ngnix.service\\\""));
    EXPECT_EQ(ask_for("nginx.service").status, 200U);
    const Response gone = ask_for("/elsewhere");
    EXPECT_EQ(gone.status, 404U);
    EXPECT_THAT(body_of(gone),
                HasSubstr("no cgroup in these snapshots is \\\"/elsewhere\\\" or below it"));
    EXPECT_EQ(ask_for("/idle.slice").status, 200U) << "it lives";
    EXPECT_EQ(ask_for("/system.slice").status, 200U);
    EXPECT_EQ(ask_for("/idle.slice/(removed)").status, 200U) << "what it is below lives";
    EXPECT_EQ(ask_for("/elsewhere/(removed)").status, 404U);
    EXPECT_EQ(ask_for("/x(removed)").status, 404U);
  }
}

TEST_F(SnapshotHandlersTest, AListByTheIdOfAStackAnswersWithTheStack) {
  Snapshot& s = library_.snapshots.at(3);
  s.frames = {{.function = "main"}, {.function = "wait"}, {.function = "do_wait", .kernel = true}};
  s.entries = {{.comm = "a", .user = {0, 1}, .kernel = {2}, .ns = 70},
               {.comm = "b", .user = {0}, .ns = 5}};
  const std::string id = stack_id_text(StackIds(s).of(s.entries[0]));
  const json list = ask_json(&SnapshotHandlers::list, {{"stack", id}});
  ASSERT_THAT(list["snapshots"], SizeIs(1));
  EXPECT_EQ(list["snapshots"][0]["sequence"], 3);
  EXPECT_EQ(list["stack"], json({"main", "wait", "do_wait"}));
  const json merged = ask_json(&SnapshotHandlers::merge, {{"stack", id}, {"from", "-2h"}});
  ASSERT_THAT(merged["rows"], SizeIs(1));
  EXPECT_EQ(merged["rows"][0][10], 70);

  EXPECT_EQ(ask_json(&SnapshotHandlers::list, {{"stack", "0000000000000001"}})["stack"], nullptr);
  const Response refused = ask(&SnapshotHandlers::list, {{"stack", "main"}});
  EXPECT_EQ(refused.status, 400U);
  EXPECT_THAT(body_of(refused), HasSubstr("16 digits"));
}

TEST_F(SnapshotHandlersTest, MergesARangeInEveryFormatWithTheSameTotal) {
  const std::uint64_t expected = total({2, 3});
  const auto ask_for = [&](const std::string& format) {
    return ask(&SnapshotHandlers::merge,
               {{"from", "-59min"}, {"to", "-57min"}, {"format", format}});
  };
  const json table = json::parse(body_of(ask_for("json")));
  std::uint64_t ns = 0;
  for (const json& row : table["rows"]) ns += row[10].get<std::uint64_t>();
  EXPECT_EQ(ns, expected);
  EXPECT_EQ(table["snapshots"], 2);
  EXPECT_EQ(table["covered_seconds"], 120);

  for (const char* format : {"folded", "offwake"}) {
    const Response folded = ask_for(format);
    EXPECT_EQ(folded.content_type, "text/plain; charset=utf-8");
    EXPECT_EQ(test::sum(test::parse_folded(body_of(folded))), expected / 1'000);
  }
  const Response pprof = ask_for("pprof");
  EXPECT_EQ(pprof.content_type, "application/octet-stream");
  EXPECT_THAT(pprof.headers,
              Contains(Pair("Content-Disposition",
                            "attachment; filename=\"offcpu-20261120T110100Z.pb.gz\"")));
  const auto read = snapshot_of_pprof(body_of(pprof));
  ASSERT_TRUE(read);
  EXPECT_EQ(test::total_ns(*read), expected);
}

TEST_F(SnapshotHandlersTest, ADamagedSnapshotIsLeftOutAndCounted) {
  library_.damaged = 3;
  const json table = ask_json(&SnapshotHandlers::merge, {{"from", "-59min"}, {"to", "-57min"}});
  EXPECT_EQ(table["snapshots"], 1);
  EXPECT_EQ(table["unreadable"], 1);
}

TEST_F(SnapshotHandlersTest, WhereNothingIsKeptItSaysWhatIs) {
  const Response response = ask(&SnapshotHandlers::merge);
  EXPECT_EQ(response.status, 404U);
  EXPECT_THAT(body_of(response), HasSubstr("the kept ones are from 2026-11-20T11:00:00.000Z "
                                           "to 2026-11-20T11:04:00.000Z"));
  EXPECT_THAT(body_of(ask(&SnapshotHandlers::merge, {{"sequence", "9"}})),
              HasSubstr("there is no snapshot 9"));
  library_.snapshots.clear();
  EXPECT_THAT(body_of(ask(&SnapshotHandlers::merge)), HasSubstr("none is kept so far"));
}

TEST_F(SnapshotHandlersTest, OfTwoRangesItSaysWhichHasNothing) {
  const std::string kept = "; the kept ones are from 2026-11-20T11:00:00.000Z";
  EXPECT_THAT(body_of(ask(&SnapshotHandlers::difference,
                          {{"from", "-59min"}, {"base_from", "-24h"}, {"base_to", "-23h"}})),
              HasSubstr("there is no snapshot in the earlier range of time" + kept));
  EXPECT_THAT(body_of(ask(&SnapshotHandlers::difference,
                          {{"from", "-10min"}, {"base_from", "-2h"}, {"base_to", "-58min"}})),
              HasSubstr("there is no snapshot in the later range of time" + kept));
}

TEST_F(SnapshotHandlersTest, ComparesTwoRanges) {
  const std::multimap<std::string, std::string> query = {
      {"sequence", "2"}, {"base_from", "-60min"}, {"base_to", "-59min"}};
  const json table = ask_json(&SnapshotHandlers::difference, query);
  std::uint64_t ns = 0, before = 0;
  for (const json& row : table["rows"]) {
    ns += row[10].get<std::uint64_t>();
    before += row[12].get<std::uint64_t>();
  }
  EXPECT_EQ(ns, total({2}));
  EXPECT_EQ(before, total({1}));

  const json same =
      ask_json(&SnapshotHandlers::difference, {{"sequence", "2"}, {"base_sequence", "2"}});
  for (const json& row : same["rows"]) EXPECT_EQ(row[10], row[12]);

  auto folded = query;
  folded.emplace("format", "folded");
  const Response response = ask(&SnapshotHandlers::difference, folded);
  EXPECT_THAT(response.headers[0].second, HasSubstr("offcpu-difference-20261120T110100Z.folded"));
}

TEST_F(SnapshotHandlersTest, RefusesAtOnceWhatItDoesNotUnderstand) {
  for (const Handler handler : {&SnapshotHandlers::list, &SnapshotHandlers::merge,
                                &SnapshotHandlers::difference, &SnapshotHandlers::profile}) {
    const Response response = (handlers_.*handler)({.query = {{"cgrp", "/x"}}});
    EXPECT_EQ(response.status, 400U);
    EXPECT_THAT(body_of(response), HasSubstr("unknown parameter \\\"cgrp\\\"; use "));
  }
}

TEST_F(SnapshotHandlersTest, AProfileIsOfTheTimeToCome) {
  const Response response = ask(&SnapshotHandlers::profile, {{"seconds", "5"}, {"comm", "pp"}});
  EXPECT_EQ(source_.asked, 5s);
  const auto read = snapshot_of_pprof(body_of(response));
  ASSERT_TRUE(read);
  EXPECT_THAT(read->entries, SizeIs(1));
  EXPECT_EQ(read->entries[0].comm, "pp");

  source_.result = Error("the sampler is busy with 8 such requests; try again later");
  EXPECT_EQ(ask(&SnapshotHandlers::profile).status, 503U);
}

// What the daemon does when it stops in the middle of a sum.
TEST_F(SnapshotHandlersTest, ASumThatIsCancelledReadsNoMoreFiles) {
  const json all = ask_json(&SnapshotHandlers::merge, {{"from", "-2h"}});
  EXPECT_EQ(all["snapshots"], 4);
  std::stop_source stop;
  std::size_t loads = 0;
  library_.on_load = [&] {
    if (++loads == 2) stop.request_stop();
  };
  (void)merge(library_, {}, {}, stop.get_token());
  EXPECT_EQ(loads, 2U);
}

// A big profile takes its time to format, and no scrape waits for it.
TEST_F(SnapshotHandlersTest, AProfileIsFormattedByTheWorker) {
  std::latch busy(1), release(1);
  const Response sum = worker_.respond([&](const std::stop_token&) {
    busy.count_down();
    release.wait();
    return Response{};
  });
  std::get<Later>(sum.body).start([](const Later::Make&) {});
  busy.wait();
  const Response profile = handlers_.profile({.query = {{"seconds", "1"}}});
  std::promise<std::string> type;
  std::get<Later>(profile.body).start([&](const Later::Make& make) {
    type.set_value(make().content_type);
  });
  auto answered = type.get_future();
  EXPECT_EQ(answered.wait_for(20ms), std::future_status::timeout);
  release.count_down();
  EXPECT_EQ(answered.get(), "application/octet-stream");
}

}  // namespace
}  // namespace offcpud
