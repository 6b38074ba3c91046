// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <unordered_map>

#include "base/clock.h"
#include "base/share_owner.h"

namespace offcpud {

// CPU time that may be spent for each user, so that nobody's files take the time of all: 10 s at
// once, and 6 s a minute from then on. Time is what the caller says it is. Not thread-safe.
class CpuShares {
 public:
  struct Limits {
    // The 2,235 programs and libraries of a developer's host take 2 s for their symbols and 6 s for
    // their tables, once.
    std::chrono::nanoseconds at_once = std::chrono::seconds(10);
    double per_second = 0.1;  // of a CPU, that come back
  };
  explicit CpuShares(const Limits& limits) : limits_(limits) {}

  // What may be spent; below 0 after something that took more than there was.
  [[nodiscard]] std::chrono::nanoseconds left(const ShareOwner& owner, MonotonicTime now) const;
  void charge(const ShareOwner& owner, std::chrono::nanoseconds cpu, MonotonicTime now);
  // From when on there is some left.
  [[nodiscard]] MonotonicTime next_time(const ShareOwner& owner, MonotonicTime now) const;

  [[nodiscard]] std::size_t size() const {
    return spent_.size();
  }  // users that are not at the full

 private:
  struct Account {
    std::chrono::nanoseconds left{};
    MonotonicTime since;
  };
  [[nodiscard]] std::chrono::nanoseconds left(const Account& account, MonotonicTime now) const;

  Limits limits_;
  std::unordered_map<ShareOwner, Account> spent_;
};

// What the calling thread has taken since it started.
std::chrono::nanoseconds thread_cpu_time();

}  // namespace offcpud
