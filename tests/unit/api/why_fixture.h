// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/why_handler.h"
#include "pipeline/site_history.h"
#include "pipeline/stall.h"
#include "pipeline/taker.h"
#include "pipeline/wait_history.h"
#include "pipeline/waited_on.h"
#include "support/times.h"
#include "unit/http/later_response.h"

namespace offcpud::test {

using namespace std::chrono_literals;
using nlohmann::json;

inline std::shared_ptr<const std::string> text(const std::string& t) {
  return std::make_shared<const std::string>(t);
}

class WhyHandlerTest : public ::testing::Test {
 protected:
  WhyHandlerTest() {
    view_.taken = MonotonicTime(1'000s);
    view_.taken_wall = WallTime(1'795'176'000s);
    view_.stalls = std::make_shared<StallList>();
    view_.subjects.push_back({.labels = labels_of("/system.slice/db.service")});
    view_.subjects.push_back({.labels = labels_of("/system.slice/web.service")});
    add_sites();
    add_step();
    add_waits();
    add_peers();
    add_takers();
    add_process();
  }

  // A thread of db.service waits for a lock in the kernel that this thread of audit.service holds.
  static HeldWait held(std::uint32_t holder) {
    LockHolder by{.kind = LockKind::KernelMutex, .tid = holder, .local_tid = holder};
    std::string_view("writer").copy(by.comm.data(), by.comm.size());
    by.process = {.tgid = 77, .local_tgid = 77};
    std::string_view("auditor").copy(by.process.comm.data(), by.process.comm.size());
    return {.tid = 13,
            .pid = 12,
            .since_ns = 5,
            .cgroup = "/system.slice/db.service/worker",
            .holder_cgroup = "/system.slice/audit.service",
            .holder = std::make_shared<const LockHolder>(by)};
  }
  void hold() {
    WaitWindow window = *view_.waits;
    window.held = {held(500)};
    view_.waits = std::make_shared<const WaitWindow>(std::move(window));
  }
  // The same, and what the holder waits for.
  void holder_waits(WaitFor wait_for, const std::string& site, const PeerWaits& on = {}) {
    hold();
    WaitWindow window = *view_.waits;
    auto wait = std::make_shared<ExaminedWait>();
    wait->wait_for = wait_for;
    wait->site = site;
    window.blocks = {{.tid = 500, .since_ns = 1, .lasts = true, .wait = wait}};
    if (!on.on.empty()) window.peers.push_back(on);
    view_.waits = std::make_shared<const WaitWindow>(std::move(window));
  }

  Response ask(Parameters query, bool details = true) {
    return why_response({.method = "GET", .query = std::move(query), .sees_details = details},
                        view_,
                        [this](std::string_view cgroup) { return !removed_.contains(cgroup); });
  }
  json ask_json(Parameters query, bool details = true) {
    const Response response = ask(std::move(query), details);
    EXPECT_EQ(response.status, 200U) << body_of(response);
    return json::parse(body_of(response));
  }

  View view_;
  std::set<std::string, std::less<>> removed_;

 private:
  static std::shared_ptr<const SubjectLabels> labels_of(const char* cgroup) {
    return std::make_shared<const SubjectLabels>(labels_of_cgroup(cgroup));
  }

  // db.service waited for a lock in the last two minutes.
  void add_sites() {
    for (int i = 12; i > 0; --i) {
      auto window = std::make_shared<SiteWindow>();
      window->begin = view_.taken - i * 10s;
      window->end = window->begin + 10s;
      // The last minute differs from the one before.
      const double threads = i > 6 ? 1 : 4;
      window->sites = {{.cgroup = text("/system.slice/db.service/worker"),
                        .site = text("row-lock"),
                        .wait_for = WaitFor::Lock,
                        .time = {.ns = threads * 10 * kSecond}}};
      view_.site_history.push_back(window);
    }
  }

  // web.service waited for a CPU in the last 10 s.
  void add_step() {
    auto step = std::make_shared<WaitStep>();
    step->begin = view_.taken - 10s;
    step->end = view_.taken;
    step->subjects = {
        {.labels = labels_of("/system.slice/web.service"), .waits = 2, .running_ns = 5 * kSecond}};
    step->waits = {{.kind = OFFCPUD_RUNQ_WAKEUP, .waited_ns = 20 * kSecond},
                   {.kind = OFFCPUD_RUNQ_THROTTLED, .waited_ns = 2 * kSecond}};
    view_.history = {step};
  }

  // db.service waits for audit.service.
  void add_waits() {
    auto waits = std::make_shared<WaitWindow>();
    waits->begin_at = view_.taken - 10s;
    waits->end_at = view_.taken;
    waits->sites = {{.pid = 12,
                     .process_start_ns = 5,
                     .cgroup = "/system.slice/db.service/worker",
                     .wait_for = WaitFor::Lock,
                     .site = "row-lock",
                     .time = {.ns = 30.0 * kSecond}}};
    waits->peers = {{.pid = 12,
                     .process_start_ns = 5,
                     .cgroup = "/system.slice/db.service/worker",
                     .wait_for = WaitFor::Lock,
                     .on = "audit.service",
                     .peer_pid = 77,
                     .peer_comm = "auditor",
                     .time = {.ns = 24.0 * kSecond}}};
    view_.waits = waits;
  }

  // In one window of the last minute and one before, 30 s each.
  void add_peers() {
    for (int i = 2; i > 0; --i) {
      auto window = std::make_shared<PeerWindow>();
      window->begin = view_.taken - i * 60s;
      window->end = window->begin + 60s;
      window->rows = {{.cgroup = "/system.slice/db.service/worker",
                       .wait_for = WaitFor::Lock,
                       .on = "audit.service",
                       .time = {.ns = 180.0 * kSecond}},
                      {.cgroup = "/system.slice/db.service",
                       .wait_for = WaitFor::Lock,
                       .on = "/jobs/nightly",
                       .time = {.ns = 36.0 * kSecond}},
                      {.cgroup = "/system.slice/db.service",
                       .wait_for = WaitFor::Lock,
                       .on = "(unknown)",
                       .time = {.ns = 24.0 * kSecond}}};
      view_.peer_history.push_back(window);
    }
  }

  // web.service waited 20 s for a CPU in the last 10 s: 12 s by batch.service, 3 s by threads of
  // its own, 2 s by nobody knows whom; before, 100 s by batch.service.
  void add_takers() {
    const auto takers = [&](std::vector<std::pair<const char*, std::uint64_t>> seconds) {
      auto kept_off = std::make_shared<KeptOff>();
      for (const auto& [by, each] : seconds)
        kept_off->takers.push_back({labels_of(by), each * kSecond});
      return kept_off;
    };
    auto step = std::make_shared<KeptOffStep>();
    step->taken = view_.taken - 10s;
    step->rows = {
        {labels_of("/system.slice/web.service"), takers({{"/batch.slice/batch.service", 100}})}};
    view_.kept_off_steps = {step};
    view_.subjects[1].kept_off = takers({{"(throttled)", 50},
                                         {"(unknown)", 2},
                                         {"/batch.slice/batch.service", 112},
                                         {"/system.slice/web.service", 3}});
  }

  void add_process() {
    ProcessRow process;
    process.pid = 12;
    process.start_ns = 5;
    process.comm = "postgres";
    process.labels = labels_of("/system.slice/db.service/worker");
    view_.processes.push_back(process);
  }
};

}  // namespace offcpud::test
