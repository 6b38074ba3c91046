// SPDX-License-Identifier: Apache-2.0
#include "pipeline/site_history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace offcpud {
namespace {

using namespace std::chrono_literals;

SiteWaits site_waits(std::uint32_t pid, const char* cgroup, WaitFor wait_for, const char* site) {
  return {.pid = pid,
          .cgroup = cgroup,
          .wait_for = wait_for,
          .site = site,
          .time = {.ns = 1e9, .variance_ns2 = 1e16},
          .lasting = pid,
          .oldest = {.ns = pid * 1'000'000'000ULL}};
}

std::shared_ptr<WaitWindow> window(std::chrono::seconds begin, std::chrono::seconds end) {
  auto window = std::make_shared<WaitWindow>();
  window->begin_at = MonotonicTime(begin);
  window->end_at = MonotonicTime(end);
  return window;
}

TEST(SiteHistory, SumsTheProcessesOfACgroup) {
  SiteHistory history;
  auto first = window(10s, 20s);
  first->sites = {
      site_waits(3, "/a", WaitFor::Lock, "mutex"), site_waits(5, "/a", WaitFor::Lock, "mutex"),
      site_waits(5, "/b", WaitFor::Lock, "mutex"), site_waits(7, "/a", WaitFor::Lock, "row"),
      site_waits(3, "/a", WaitFor::Work, "loop"),  site_waits(5, "/a", WaitFor::Work, "pool")};
  first->lost_ns = 900;  // whole blocks, most of them before the window
  first->lost_within_ns = 9;
  history.add(first);
  const auto kept = history.windows(MonotonicTime(22s));
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0]->length(), 10s);
  EXPECT_EQ(kept[0]->lost_ns, 9);
  ASSERT_EQ(kept[0]->sites.size(), 4U) << "idle ones need no site";
  const CgroupWaits& mutex = kept[0]->sites[0];
  EXPECT_EQ(*mutex.cgroup, "/a");
  EXPECT_EQ(*mutex.site, "mutex");
  EXPECT_EQ(mutex.time, (WaitTime{.ns = 2e9, .variance_ns2 = 2e16}));
  EXPECT_EQ(mutex.lasting, 8U);
  EXPECT_EQ(mutex.oldest.ns, 5'000'000'000U);
  EXPECT_EQ(*kept[0]->sites[1].site, "row");
  EXPECT_EQ(kept[0]->sites[2].wait_for, WaitFor::Work);
  EXPECT_EQ(kept[0]->sites[2].time.ns, 2e9);
  EXPECT_EQ(*kept[0]->sites[3].cgroup, "/b");
  EXPECT_EQ(history.last(MonotonicTime(22s)), first) << "by process";
}

TEST(SiteHistory, SaysNothingOfNowOnceItIsOld) {
  SiteHistory history;
  EXPECT_EQ(history.last(MonotonicTime(0s)), nullptr);
  history.add(window(10s, 20s));
  EXPECT_NE(history.last(MonotonicTime(80s)), nullptr);
  EXPECT_EQ(history.last(MonotonicTime(81s)), nullptr);
  EXPECT_TRUE(history.windows(MonotonicTime(81s)).empty());
  history.add(window(20s, 81s));
  EXPECT_EQ(history.windows(MonotonicTime(81s)).size(), 2U);
  history.clear();
  EXPECT_EQ(history.last(MonotonicTime(81s)), nullptr);
}

TEST(SiteHistory, KeepsTheLastMinutes) {
  SiteHistory history;
  for (auto at = 0s; at < 1000s; at += 10s) history.add(window(at, at + 10s));
  const auto kept = history.windows(MonotonicTime(1000s));
  EXPECT_EQ(kept.size(), 60U);
  EXPECT_EQ(kept.back()->end, MonotonicTime(1000s));
  EXPECT_EQ(kept.front()->begin, MonotonicTime(400s));
}

std::string service(int number) {
  return "/system.slice/some-service-with-a-long-name-" + std::to_string(number) + ".service";
}

TEST(SiteHistory, AHostWithManyUnitsHasAllMinutes) {
  SiteHistory history;
  for (auto at = 0s; at < 700s; at += 10s) {
    auto large = window(at, at + 10s);
    for (int unit = 0; unit < 300; ++unit) {
      for (const WaitFor wait_for : {WaitFor::Lock, WaitFor::Work, WaitFor::Timer}) {
        large->sites.push_back(site_waits(1, service(unit).c_str(), wait_for, "pthread-mutex"));
      }
    }
    history.add(large);
  }
  const auto kept = history.windows(MonotonicTime(700s));
  EXPECT_EQ(kept.size(), 60U);
  EXPECT_EQ(kept.front()->sites[0].cgroup, kept.back()->sites[0].cgroup) << "the same text";
}

// Thousands of cgroups of one user cost neither history nor the rows of others who wait for longer.
TEST(SiteHistory, TheRowsOfAWindowAreBoundedAndNoTimeIsLost) {
  SiteHistory history;
  for (auto at = 0s; at < 700s; at += 10s) {
    auto large = window(at, at + 10s);
    for (int cgroup = 0; cgroup < 5'000; ++cgroup) {
      large->sites.push_back(site_waits(1, service(cgroup).c_str(), WaitFor::Work, ""));
    }
    large->sites.push_back(site_waits(2, "/lock", WaitFor::Lock, "mutex"));
    large->sites.back().time.ns = 0.5e9;
    large->sites.push_back(site_waits(2, "/loop", WaitFor::Work, ""));
    large->sites.back().time.ns = 2e9;
    history.add(large);
  }
  const auto kept = history.windows(MonotonicTime(700s));
  EXPECT_EQ(kept.size(), 60U);
  const std::vector<CgroupWaits>& rows = kept.back()->sites;
  EXPECT_EQ(rows.size(), SiteHistory::kMostRows + 1);
  double ns = 0;
  for (const CgroupWaits& row : rows) ns += row.time.ns;
  EXPECT_EQ(ns, 5'002.5e9);
  const auto of = [&](const std::string& cgroup) -> const CgroupWaits& {
    return *std::ranges::find_if(rows, [&](const auto& row) { return *row.cgroup == cgroup; });
  };
  EXPECT_EQ(of("/lock").time.ns, 0.5e9) << "somebody may want to act on it";
  EXPECT_EQ(of("/loop").time.ns, 2e9);
  EXPECT_EQ(of("(other)").time.ns, (5'000 - (SiteHistory::kMostRows - 2)) * 1e9);
  EXPECT_EQ(of("(other)").wait_for, WaitFor::Work);
}

TEST(SiteHistory, LongTextsThatChangeCostHistory) {
  SiteHistory history;
  for (auto at = 0s; at < 100s; at += 10s) {
    auto large = window(at, at + 10s);
    for (int i = 0; i < 1'000; ++i) {
      const std::string path = "/" + std::to_string(at.count() + i % 10) + std::to_string(i);
      large->sites.push_back(
          site_waits(1, (path + std::string(3'000, 'x')).c_str(), WaitFor::Lock, "m"));
    }
    history.add(large);
  }
  auto kept = history.windows(MonotonicTime(100s));
  EXPECT_GE(kept.size(), 1U);
  EXPECT_LT(kept.size(), 4U);
  EXPECT_EQ(kept.back()->end, MonotonicTime(100s));
  for (auto at = 100s; at < 900s; at += 10s) history.add(window(at, at + 10s));
  EXPECT_EQ(history.windows(MonotonicTime(900s)).size(), 60U) << "what is gone takes no room";
}

}  // namespace
}  // namespace offcpud
