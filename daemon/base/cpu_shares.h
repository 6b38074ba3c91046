// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <unordered_map>

#include "base/clock.h"
#include "base/share_owner.h"

namespace offcpud {

// Limits the CPU time that is spent for each user, so that nobody's files use up the time of all:
// 10 s at once, and 6 s a minute from then on. Callers pass the current time. Not thread-safe.
class CpuShares {
 public:
  struct Limits {
    // The 2,235 programs and libraries of a developer's host take 2 s for their symbols and 6 s for
    // their tables, once.
    std::chrono::nanoseconds at_once = std::chrono::seconds(10);
    double per_second = 0.1;  // of a CPU: how fast the share refills
  };
  explicit CpuShares(const Limits& limits) : limits_(limits) {}

  // The time that is left; below 0 after a piece of work that took more than was left.
  [[nodiscard]] std::chrono::nanoseconds left(const ShareOwner& owner, MonotonicTime now) const;
  void spend(const ShareOwner& owner, std::chrono::nanoseconds cpu, MonotonicTime now);
  // When some time is left; `now` if some is left already.
  [[nodiscard]] MonotonicTime next_time(const ShareOwner& owner, MonotonicTime now) const;

  // Number of users whose share is not full.
  [[nodiscard]] std::size_t size() const { return spent_.size(); }

 private:
  struct Account {
    std::chrono::nanoseconds left{};
    MonotonicTime since;
  };
  [[nodiscard]] std::chrono::nanoseconds left(const Account& account, MonotonicTime now) const;

  Limits limits_;
  std::unordered_map<ShareOwner, Account> spent_;
};

// CPU time that the calling thread has used since it started.
std::chrono::nanoseconds thread_cpu_time();

}  // namespace offcpud
