// SPDX-License-Identifier: Apache-2.0
#include "api/waiting_now.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "pipeline/site_history.h"
#include "pipeline/stall.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class WaitingNow : public ::testing::Test {
 protected:
  WaitingNow() {
    stalls_->examines = true;
    view_.stalls = stalls_;
    window_->begin = MonotonicTime(10s);
    window_->end = MonotonicTime(20s);
  }
  void add(const char* cgroup, WaitFor wait_for, const char* site, double threads,
           std::uint32_t lasting = 0) {
    window_->sites.push_back({.cgroup = std::make_shared<const std::string>(cgroup),
                              .site = std::make_shared<const std::string>(site),
                              .wait_for = wait_for,
                              .time = {.ns = threads * 10e9},
                              .lasting = lasting,
                              .oldest = {.ns = lasting > 0 ? 25'000'000'000ULL : 0}});
  }
  [[nodiscard]] std::vector<std::string> lines(bool with_sites = true) {
    view_.site_history = {window_};
    return waiting_now(view_, with_sites);
  }
  void add_stall(std::shared_ptr<const ExaminedWait> wait, std::uint64_t ns) {
    auto stall = std::make_shared<Stall>();
    stall->wait = std::move(wait);
    stall->duration_ns = ns;
    stalls_->stalls.push_back(stall);
  }

  View view_;
  std::shared_ptr<StallList> stalls_ = std::make_shared<StallList>();
  std::shared_ptr<SiteWindow> window_ = std::make_shared<SiteWindow>();
};

TEST_F(WaitingNow, WhatIsWaitedForComesFirstThenStallsThenWhoIdles) {
  add("/system.slice/postgresql.service", WaitFor::Lock, "postgresql-heavyweight-lock", 8, 8);
  add("/system.slice/postgresql.service", WaitFor::Lock, "pthread-mutex", 0.5);
  add("/system.slice/shop.service", WaitFor::Answer, "socket-read", 9);
  add("/", WaitFor::Storage, "fsync", 0.01);
  add("/system.slice/prometheus.service", WaitFor::Work, "", 12);
  add("/system.slice/prometheus.service", WaitFor::Timer, "", 2);
  add("/system.slice/shop.service", WaitFor::Unknown, "", 1.25);
  auto lock = std::make_shared<ExaminedWait>();
  lock->wait_for = WaitFor::Lock;
  add_stall(lock, 25'000'000'000);
  add_stall(lock, 12'000'000'000);
  add_stall(nullptr, 11'000'000'000);
  EXPECT_THAT(
      lines(),
      ElementsAre("waiting for an answer: 9.0 threads on average: 9.0 in shop.service "
                  "(socket-read)",
                  "waiting for a lock: 8.5 threads on average: 8.5 in postgresql.service "
                  "(postgresql-heavyweight-lock; 8 now, the longest for 25 s)",
                  "stalls: 3: lock 2, by reason 1; the longest for 25 s",
                  "idle: 12 threads wait for work, 2.0 for a timer; of 1.2 nobody can tell"));
  EXPECT_THAT(lines(false)[1], HasSubstr("postgresql.service (8 now, the longest for 25 s)"));
}

TEST_F(WaitingNow, TheProcessThatWaitsMostIsNamed) {
  add("/", WaitFor::Answer, "socket-read", 3);
  auto waits = std::make_shared<WaitWindow>();
  waits->sites = {{.pid = 7,
                   .cgroup = "/",
                   .comm = "curl",
                   .wait_for = WaitFor::Answer,
                   .site = "socket-read",
                   .time = {.ns = 1e9}},
                  {.pid = 8,
                   .cgroup = "/",
                   .comm = "python3",
                   .wait_for = WaitFor::Answer,
                   .site = "socket-read",
                   .time = {.ns = 2e9}},
                  {.pid = 9,
                   .cgroup = "/",
                   .comm = "node",
                   .wait_for = WaitFor::Answer,
                   .site = "dns",
                   .time = {.ns = 3e9}},
                  {.pid = 10,
                   .cgroup = "/a",
                   .comm = "java",
                   .wait_for = WaitFor::Answer,
                   .site = "socket-read",
                   .time = {.ns = 4e9}}};
  view_.waits = waits;
  EXPECT_THAT(lines()[0], HasSubstr(": 3.0 outside of all units (python3: socket-read)"));
  EXPECT_THAT(lines(false)[0], Not(HasSubstr("python3"))) << "it says what a stack is of";
}

// As those of stalls, which stand beside them.
TEST_F(WaitingNow, AgesAreThoseOfNow) {
  add("/system.slice/shop.service", WaitFor::Lock, "mutex", 8, 8);
  const std::string at_the_end = lines()[0];
  view_.taken = window_->end + 7s;
  EXPECT_THAT(at_the_end, HasSubstr("the longest for 25 s"));
  EXPECT_THAT(lines()[0], HasSubstr("the longest for 32 s"));
}

// As `offcpuctl stalls` marks them.
TEST_F(WaitingNow, AgesOfBlocksOlderThanTheDaemonAreMarked) {
  add("/system.slice/shop.service", WaitFor::Lock, "mutex", 8, 8);
  window_->sites.back().oldest.estimated = true;
  add_stall(nullptr, 25'000'000'000);
  stalls_->stalls.back() = [&] {
    auto stall = std::make_shared<Stall>(*stalls_->stalls.back());
    stall->estimated = true;
    return stall;
  }();
  EXPECT_THAT(lines()[0], HasSubstr("(mutex; 8 now, the longest for ~25 s)"));
  EXPECT_THAT(lines()[1], HasSubstr("; the longest for ~25 s"));
  window_->sites.back().oldest = {};
  EXPECT_THAT(lines()[0], HasSubstr("(mutex; 8 now)")) << "nobody knows its age";
}

TEST_F(WaitingNow, StallsWithoutARecordAreCounted) {
  add_stall(nullptr, 11'000'000'000);
  stalls_->unlisted = {{.threads = 4, .oldest = {60'000'000'000}}, {.threads = 3}};
  EXPECT_EQ(lines()[1],
            "stalls: 1 told, 7 more beyond the limit: by reason 1; the longest for 1 min");
}

TEST_F(WaitingNow, UnusualWaitsAreALineApartFromStalls) {
  add("/a", WaitFor::Unknown, "", 2);
  for (const char* cgroup : {"/a", "/system.slice/shop.service", "/a"}) {
    auto stall = std::make_shared<Stall>();
    stall->labels = std::make_shared<const SubjectLabels>(labels_of_cgroup(cgroup));
    stall->duration_ns = 25'000'000'000;
    view_.unusual.push_back({stall, std::make_shared<const UsualWaits>()});
  }
  EXPECT_THAT(lines()[1], "stalls: none");
  EXPECT_THAT(lines()[2],
              "unusually long, and nobody can tell what for: 3 waits: 2 in /a, 1 in shop.service; "
              "the longest for 25 s");
}

TEST_F(WaitingNow, WhatChildrenWaitForTheySayThemselves) {
  add("/a", WaitFor::Answer, "shell-command", 7);
  window_->sites.back().child = window_->sites.back().time;
  EXPECT_THAT(lines()[0], HasSubstr("nobody waits"));
  EXPECT_THAT(lines()[2], HasSubstr("7.0 for their own children"));
}

TEST_F(WaitingNow, NobodyWaitsIsSaidInWords) {
  add("/a", WaitFor::Storage, "fsync", 0.01);
  add("/a", WaitFor::Work, "", 400);
  EXPECT_THAT(lines(),
              ElementsAre("nobody waits for a lock, an answer, storage or memory (0.01 "
                          "threads on average)",
                          "stalls: none",
                          "idle: 400 threads wait for work, 0 for a timer; of 0 nobody can "
                          "tell"));
}

TEST_F(WaitingNow, WhatIsNotKnownIsNotCalledNothing) {
  EXPECT_THAT(
      waiting_now(view_, true),
      ElementsAre(
          "what threads wait for is not known yet: no stack was examined within the last minute",
          "stalls: not known yet"));
  view_.counting_since = WallTime(1'000s);
  view_.taken_wall = WallTime(1'007s);
  EXPECT_EQ(
      waiting_now(view_, true)[0],
      "what threads wait for is not known yet: the daemon started 7 s ago; ask again in 10 s");
  view_.taken_wall = WallTime(1'020s);
  EXPECT_THAT(waiting_now(view_, true)[0], HasSubstr("no stack was examined"));
  stalls_->examines = false;
  view_.taken_wall = WallTime(1'007s);
  EXPECT_THAT(waiting_now(view_, true)[0], HasSubstr("stacks are not sampled"));
  EXPECT_THAT(waiting_now(view_, true)[1], "stalls: none") << "by reason";
}

}  // namespace
}  // namespace offcpud
