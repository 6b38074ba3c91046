// SPDX-License-Identifier: Apache-2.0
// Stalls behind locks whose holders nobody can see: who released such locks before.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/stalls_json.h"
#include "pipeline/waited_on.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

Stall waiting(const ExaminedWait& wait) {
  Stall stall;
  stall.local_tid = stall.tid = 110;
  stall.local_tgid = stall.tgid = 100;
  auto labels = std::make_shared<SubjectLabels>();
  labels->cgroup = "/a/db.service/worker";
  stall.labels = std::move(labels);
  stall.kind = OFFCPUD_BLOCKED_POLL;
  stall.told = true;
  stall.wait = std::make_shared<const ExaminedWait>(wait);
  return stall;
}

Json stalls_of(const View& view) {
  const auto body = stalls_json(view, {}, {});
  EXPECT_TRUE(body) << body.error().message();
  return Json::parse(*body)["stalls"];
}

// Nobody can see who holds the lock; in two windows four such waits were ended by a thread.
View view_released(const Stall& stall, const char* site) {
  auto list = std::make_shared<StallList>();
  list->stalls.push_back(std::make_shared<const Stall>(stall));
  View view;
  view.stalls = std::move(list);
  for (int i = 0; i < 2; ++i) {
    auto window = std::make_shared<PeerWindow>();
    window->begin = MonotonicTime(std::chrono::seconds(10 * i));
    window->end = window->begin + 10s;
    ReleasedWaits row{.cgroup = "/a/db.service/worker", .site = site};
    row.kind = ReleasedWaits::By::Thread;
    row.by = "shop.service";
    row.process = "server";
    row.thread = "keeper";
    row.pid = 100;
    row.tid = 152;
    row.add(1);
    row.add(1);
    window->released.push_back(row);
    view.peer_history.push_back(window);
  }
  return view;
}

TEST(StallsReleasers, WhoReleasedSuchLocksBeforeIsTold) {
  ExaminedWait wait;
  wait.wait_for = WaitFor::Lock;
  wait.site = "row-lock";
  const Stall waits = waiting(wait);
  const Json by = stalls_of(view_released(waits, "row-lock"))[0]["released_by"];
  EXPECT_EQ(by["seen"], 4);
  EXPECT_EQ(by["nobody"], 0);
  ASSERT_EQ(by["by"].size(), 1U);
  EXPECT_EQ(by["by"][0]["unit"], "shop.service");
  EXPECT_EQ(by["by"][0]["thread"], "keeper");
  EXPECT_EQ(by["by"][0]["tid"], 152);
  EXPECT_EQ(by["by"][0]["share"], 1.0);
  EXPECT_GT(by["by"][0]["error"].get<double>(), 0.05);
  const auto tells = [](const View& view) { return stalls_of(view)[0].contains("released_by"); };
  EXPECT_FALSE(tells(view_released(waits, "mutex"))) << "it is another lock";
  Stall over = waits;
  over.ended = true;
  EXPECT_FALSE(tells(view_released(over, "row-lock"))) << "its record says who woke it";
  wait.wait_for = WaitFor::Work;
  EXPECT_FALSE(tells(view_released(waiting(wait), "row-lock"))) << "it waits for no lock";
}

}  // namespace
}  // namespace offcpud
