// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "sites/waker_evidence.h"

namespace offcpud::test {

using std::chrono::seconds;

inline constexpr std::uint32_t kProcess = 100;
inline constexpr std::uint64_t kStart = 77;
inline constexpr std::uint64_t kPlace = 1000;  // and the next ones

// Windows of waits of one process, and what evidence makes of them.
class WakerEvidenceTest : public testing::Test {
 protected:
  static ThreadAtPlace at(std::uint32_t tid, std::uint64_t place = kPlace) {
    return {.tgid = kProcess, .tid = tid, .process_start_ns = kStart, .place = place};
  }

  // Adds `count` waits of a millisecond, each of them sampled.
  SeenWaits& wait(const ThreadAtPlace& waiter, WaitEnd end, std::uint32_t waker = 0,
                  std::uint32_t count = 10) {
    return waits_.emplace_back(SeenWaits{.at = waiter,
                                         .end = end,
                                         .waker_tgid = end == WaitEnd::Thread ? waiter.tgid : 0,
                                         .waker_tid = waker,
                                         .samples = count,
                                         .ns = count * 1e6,
                                         .episodes = static_cast<double>(count)});
  }

  void end_window(seconds length = seconds(10)) {
    now_ += length;
    evidence_.learn(waits_, now_);
    waits_.clear();
  }

  // Makes and ends `count` windows with the same waits.
  template <class Waits>
  void windows(int count, Waits waits) {
    for (int i = 0; i < count; ++i) {
      waits();
      end_window();
    }
  }

  [[nodiscard]] WaitFor judge(const ThreadAtPlace& where,
                              WaitFor by_rule = WaitFor::Unknown) const {
    return evidence_.judge(where, by_rule, now_).wait_for;
  }
  [[nodiscard]] bool certain(const ThreadAtPlace& where) const {
    return evidence_.judge(where, WaitFor::Unknown, now_).certain;
  }

  // Threads 1 to 4, each of which hands a semaphore to the next.
  void convoy() {
    for (std::uint32_t tid = 1; tid <= 4; ++tid) wait(at(tid), WaitEnd::Thread, 1 + tid % 4);
  }

  WakerEvidence evidence_;
  MonotonicTime now_{};
  std::vector<SeenWaits> waits_;
};

}  // namespace offcpud::test
