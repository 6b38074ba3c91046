// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "unit/pipeline/stall_log_fixture.h"

namespace offcpud::test {

inline StallPolicy examining_policy() {
  StallPolicy examining = policy();
  examining.examined_kinds = (1U << OFFCPUD_BLOCKED_KINDS) - 1;
  return examining;
}

using ExaminedThreads = std::vector<std::pair<offcpud_thread, ExaminedWait>>;

// Stacks are examined.
class ExaminedStallsTest : public StallLogTest {
 protected:
  ExaminedStallsTest() { log_.set_policy(examining_policy()); }

  // The next window has these blocks.
  void examined(const ExaminedThreads& blocks, MonotonicTime end = {}) {
    auto window = std::make_shared<WaitWindow>();
    window->end_at = end;
    for (const auto& [thread, wait] : blocks) {
      window->blocks.push_back({.tid = thread.tid,
                                .since_ns = thread.since_ns,
                                .censored = (thread.flags & OFFCPUD_THREAD_ESTIMATED) != 0,
                                .wait = std::make_shared<const ExaminedWait>(wait)});
    }
    std::ranges::sort(window->blocks, {}, &ExaminedBlock::tid);
    log_.take_examined(std::move(window));
  }
  static ExaminedWait wait(WaitFor wait_for, bool certain = true) {
    return {.wait_for = wait_for, .site = "site", .certain = certain, .user = {"f"}, .kernel = {}};
  }
  // Threads from 1,000 on with blocks of this kind.
  std::pair<std::vector<offcpud_thread>, ExaminedThreads> as_many_as_are_told(
      const ExaminedWait& wait) {
    std::vector<offcpud_thread> threads;
    ExaminedThreads blocks;
    for (std::uint32_t tid = 1'000; tid < 1'000 + StallLog::kMaxInProgress; ++tid) {
      threads.push_back(blocked(tid, 20s));
      blocks.emplace_back(threads.back(), wait);
    }
    return {threads, blocks};
  }
  std::uint64_t untold(WaitFor wait_for) const {
    return log_.list()->untold_blocks[static_cast<std::size_t>(wait_for)];
  }
};

}  // namespace offcpud::test
