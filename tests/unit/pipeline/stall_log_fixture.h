// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hist_kind.h"
#include "pipeline/stall_log.h"
#include "support/fake_clock.h"
#include "support/times.h"

namespace offcpud::test {

using namespace std::chrono_literals;

inline constexpr std::uint64_t kCgroup = 7;

inline std::uint64_t ns(MonotonicTime time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

inline void name(offcpud_thread& thread, std::string_view comm) {
  std::memset(thread.comm, 0, sizeof(thread.comm));
  comm.copy(thread.comm, sizeof(thread.comm) - 1);
}

// Ten seconds in reasons that are not idle-prone; never for threads called "patient".
inline StallPolicy policy() {
  StallPolicy policy;
  policy.filter = {.min_ns = 10 * kSecond, .kinds = 0};
  for (std::size_t kind = 0; kind < OFFCPUD_BLOCKED_KINDS; ++kind) {
    if (!is_idle_prone(kind)) policy.filter.kinds |= 1U << kind;
  }
  policy.thresholds = [](const BlockFacts& facts) {
    StallThresholds found;
    if (facts.comm == "patient") return found;
    found.actionable = facts.cgroup == "/slow" ? 60s : 10s;
    if (!is_idle_prone(facts.kind)) found.by_reason = found.actionable;
    found.reason_named = facts.comm == "asked" && facts.kind == OFFCPUD_BLOCKED_SLEEP;
    if (found.reason_named) found.by_reason = 10s;
    return found;
  };
  policy.named_kinds = 1U << OFFCPUD_BLOCKED_SLEEP;
  return policy;
}

// What tests of stalls share: threads, walks and ends of blocks.
class StallLogTest : public testing::Test {
 protected:
  // A thread of process 100 "server" that has been blocked for `age`.
  offcpud_thread blocked(std::uint32_t tid, std::chrono::nanoseconds age,
                         std::uint32_t kind = OFFCPUD_BLOCKED_LOCK) const {
    offcpud_thread thread{};
    thread.tid = thread.local_tid = tid;
    thread.tgid = thread.local_tgid = 100;
    thread.cgroup_id = kCgroup;
    thread.state = OFFCPUD_THREAD_BLOCKED;
    thread.kind = kind;
    thread.now_ns = ns(clock_.now());
    thread.since_ns = ns(clock_.now() - age);
    name(thread, "worker");
    return thread;
  }
  offcpud_thread running(std::uint32_t tid, const char* comm) const {
    offcpud_thread thread = blocked(tid, 0s);
    thread.state = OFFCPUD_THREAD_RUNNING;
    name(thread, comm);
    return thread;
  }
  offcpud_stall_end end_of(const offcpud_thread& thread, MonotonicTime at) const {
    offcpud_stall_end end{};
    end.since_ns = thread.since_ns;
    end.ended_ns = ns(at);
    end.cgroup_id = thread.cgroup_id;
    end.tid = thread.tid;
    end.tgid = thread.tgid;
    end.kind = thread.kind;
    end.waker = OFFCPUD_FROM_OTHER_CGROUP;
    end.waker_tid = 200;
    std::memcpy(end.comm, thread.comm, sizeof(end.comm));
    return end;
  }

  // A pass with a new walk; the process and a waker are always there.
  void walk(std::vector<offcpud_thread> threads, std::vector<offcpud_stall_end> ends = {}) {
    threads.push_back(running(100, "server"));
    threads.push_back(running(200, "waker"));
    std::ranges::sort(threads, {}, &offcpud_thread::tid);
    walk_ = std::make_shared<ThreadWalk>(ThreadWalk{.threads = std::move(threads)});
    pass(std::move(ends));
  }
  void pass(std::vector<offcpud_stall_end> ends = {}) {
    log_.update(walk_, ends, clock_.now(), clock_.wall());
  }

  std::vector<std::shared_ptr<const Stall>> stalls() const { return log_.list()->stalls; }

  FakeClock clock_;
  std::shared_ptr<const ThreadWalk> walk_;
  std::shared_ptr<SubjectLabels> labels_ = [] {
    auto labels = std::make_shared<SubjectLabels>();
    labels->cgroup = "/a";
    return labels;
  }();
  StallLog log_{policy(), [this](std::uint64_t) { return labels_; }, 3};
};

}  // namespace offcpud::test
