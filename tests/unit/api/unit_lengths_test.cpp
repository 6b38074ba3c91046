// SPDX-License-Identifier: Apache-2.0
#include "api/unit_lengths.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "api/units_json.h"
#include "pipeline/site_history.h"
#include "pipeline/wait_history.h"
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

constexpr const char* kDatabase = "/system.slice/db.service";

// A database whose waits for a lock are told step by step, each of 10 s of the clock.
class Lengths : public ::testing::Test {
 protected:
  Lengths() {
    view_.taken = MonotonicTime(1000s);
    view_.taken_wall = kNow;
    database_.labels = std::make_shared<const SubjectLabels>(labels_of_cgroup(kDatabase));
    database_.waits_started.fill(kNow - 1h);
    database_.started.fill(kNow - 1h);
  }

  void locks(const std::vector<double>& lengths) {
    *locks_ += *waits(lengths);
    database_.waits[static_cast<std::size_t>(WaitFor::Lock)] =
        std::make_shared<EstimatedHistogram>(*locks_);
  }
  void pass() {
    SubjectSeries below = database_;
    below.labels =
        std::make_shared<const SubjectLabels>(labels_of_cgroup(std::string(kDatabase) + "/below"));
    view_.subjects = {database_, below};
    view_.history = history_.record(view_);
    view_.taken += 10s;
    view_.taken_wall += 10s;
  }
  // Ends now, when the next pass comes.
  void window(std::uint32_t lasting, std::uint64_t oldest_ns, WaitFor wait_for = WaitFor::Lock) {
    auto window = std::make_shared<SiteWindow>();
    window->begin = view_.taken - 10s;
    window->end = view_.taken;
    window->sites.push_back({.cgroup = std::make_shared<const std::string>(kDatabase),
                             .site = std::make_shared<const std::string>("mutex"),
                             .wait_for = wait_for,
                             .time = {.ns = 1e9},
                             .lasting = lasting,
                             .oldest = {.ns = oldest_ns}});
    view_.site_history.push_back(window);
  }
  // The View of the last pass.
  [[nodiscard]] View shown() const {
    View view = view_;
    view.taken -= 10s;
    view.taken_wall -= 10s;
    return view;
  }
  [[nodiscard]] json usual(const std::multimap<std::string, std::string>& more = {}) const {
    std::multimap<std::string, std::string> parameters{{"usual", "true"}};
    parameters.insert(more.begin(), more.end());
    const json units = units_of(shown(), parameters);
    return units.at("units").at(0).at("waits").at("for").at("lock").value("usual", json());
  }

  std::shared_ptr<EstimatedHistogram> locks_ = std::make_shared<EstimatedHistogram>();
  SubjectSeries database_;
  WaitHistory history_;
  View view_;
};

TEST_F(Lengths, WaitsThatEndedAreByStepAndOctave) {
  pass();
  locks({0.125, 0.12, 0.126, 4});
  pass();
  locks(std::vector<double>(30, 1e-3));
  database_.histograms[OFFCPUD_RUNQ_WAKEUP] = waits({0.5});
  database_.histograms[OFFCPUD_BLOCKED_DISK] = waits({0.5});
  pass();
  const json units = units_of(shown(), {{"lengths", "/system.slice/db.service"}});
  EXPECT_EQ(units["steps"]["end"], "2026-11-20T12:00:20.000Z");
  const json& lengths = units["lengths"];
  const std::size_t octave = 20 - 3;  // up to 2^-3 s; the first one ends at 2^-20 s
  EXPECT_DOUBLE_EQ(lengths["bounds_seconds"][octave], 0.125);
  EXPECT_DOUBLE_EQ(lengths["bounds_seconds"][0], 1.0 / (1 << 20));
  EXPECT_TRUE(lengths["bounds_seconds"].back().is_null());
  EXPECT_EQ(lengths["ended"]["lock"],
            json::parse("[[59,11,3.0],[58,17,0.2],[58,18,0.1],[58,22,0.1]]"))
      << "waits a second; 0.126 s is beyond the bound";
  EXPECT_EQ(lengths["ended"]["cpu"], json::parse("[[59,19,0.1]]"));
  EXPECT_EQ(lengths["ended"].size(), 2U) << "not by reason";
}

TEST_F(Lengths, APathIsTakenWithoutWhatIsBelowAndAUnitWithIt) {
  pass();
  locks({4});
  pass();
  const auto rate = [&](const char* which) {
    return units_of(shown(), {{"lengths", which}})["lengths"]["ended"]["lock"][0][2].get<double>();
  };
  EXPECT_DOUBLE_EQ(rate(kDatabase), 0.1);
  EXPECT_DOUBLE_EQ(rate("db.service"), 0.2);
  EXPECT_TRUE(units_of(shown(), {{"lengths", "gone.service"}})["lengths"]["ended"].empty());
  EXPECT_FALSE(units_of(shown(), {{"steps", "true"}}).contains("lengths"));
}

TEST_F(Lengths, WhatLastsClimbsFromStepToStep) {
  pass();
  window(8, 5 * kSecond);
  pass();
  window(9, 15 * kSecond);
  pass();
  const json lengths = units_of(shown(), {{"lengths", "db.service"}})["lengths"];
  EXPECT_EQ(lengths["lasting"], json::parse(R"({"lock": [[58,8,5.0],[59,9,15.0]]})"));
}

TEST_F(Lengths, WaitsForWorkOrForWhatNobodyKnowsAreNotShown) {
  pass();
  window(8, 5 * kSecond, WaitFor::Work);
  pass();
  window(8, 5 * kSecond, WaitFor::Unknown);
  pass();
  EXPECT_TRUE(units_of(shown(), {{"lengths", "db.service"}})["lengths"]["lasting"].empty());
}

// The last minutes do not make themselves usual.
TEST_F(Lengths, UsualIsWhatEndedBeforeTheHistory) {
  locks(std::vector<double>(100, 0.125));
  pass();
  locks(std::vector<double>(500, 4));
  window(0, 0);
  pass();
  const json lock = usual();
  EXPECT_EQ(lock["ended"], 100);
  EXPECT_EQ(lock["since"], "2026-11-20T11:00:00.000Z");
  EXPECT_DOUBLE_EQ(lock["p99_seconds"][1], 0.125);
  EXPECT_TRUE(usual({{"to", "2026-11-20T12:00:10Z"}}).is_null()) << "it is not kept by time";
  const json unasked = units_of(shown(), {});
  EXPECT_FALSE(unasked["units"][0]["waits"]["for"]["lock"].contains("usual"));
}

TEST_F(Lengths, OfFewWaitsNothingIsUsual) {
  locks(std::vector<double>(99, 0.125));
  pass();
  locks({0.125});
  window(0, 0);
  pass();
  EXPECT_TRUE(usual().is_null()) << "the hundredth is recent";
}

TEST_F(Lengths, OnlyOfWhatSomebodyMayActOnIsAnythingUsual) {
  constexpr auto kWork = static_cast<std::size_t>(WaitFor::Work);
  locks(std::vector<double>(900, 0.125));
  database_.waits[kWork] = database_.waits[static_cast<std::size_t>(WaitFor::Lock)];
  pass();
  locks({0.125});
  window(0, 0);
  window(0, 0, WaitFor::Work);
  pass();
  const json units = units_of(shown(), {{"usual", "true"}});
  const json& by_for = units.at("units").at(0).at("waits").at("for");
  EXPECT_TRUE(by_for.at("lock").contains("usual"));
  EXPECT_FALSE(by_for.at("work").contains("usual"));
}

TEST_F(Lengths, OfALittleTimeNothingIsUsual) {
  database_.waits_started.fill(kNow - 4min);
  locks(std::vector<double>(900, 0.125));
  pass();
  locks({0.125});
  window(0, 0);
  pass();
  EXPECT_TRUE(usual().is_null());
}

TEST_F(Lengths, UsualWaitsInARunQueueStandBesideTheirCause) {
  database_.histograms[OFFCPUD_RUNQ_PREEMPTED] = waits(std::vector<double>(200, 0.5));
  pass();
  database_.histograms[OFFCPUD_RUNQ_PREEMPTED] = waits(std::vector<double>(300, 0.5));
  pass();
  const json units = units_of(shown(), {{"usual", "true"}});
  EXPECT_EQ(units["units"][0]["runqueue"]["preempted"]["usual"]["ended"], 200);
}

}  // namespace
}  // namespace offcpud
