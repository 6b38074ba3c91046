// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/cpu_shares.h"
#include "base/share_owner.h"
#include "symbols/symbol_cache.h"

namespace offcpud {

// A read that waits its turn, and the user for whom it is. It reads an object's functions, or
// something else with an id of the same kind.
struct SymbolLoad {
  using Job = std::function<void(SymbolCache&)>;

  ObjectId id = 0;
  ShareOwner owner;
  ObjectFile file;             // if it is an object
  Job job;                     // otherwise: does the read
  const char* what = nullptr;  // a literal for the heartbeat
};

// Decides the order of loads, so that no user's programs delay the names of others. Each user has a
// budget of CPU time (CpuShares): the user with most time left is next, and a user without any
// waits. When the queue is full, the user with most loads in it loses one.
//
// The caller passes the time. Not thread-safe.
class LoadQueue {
 public:
  struct Limits {
    std::size_t waiting = 128;
    CpuShares::Limits cpu = {};
  };
  explicit LoadQueue(const Limits& limits) : waiting_(limits.waiting), shares_(limits.cpu) {}

  // Returns the load that is refused: `load` itself, or the latest one of the user with most loads
  // in the queue. Nothing: there was room.
  std::optional<SymbolLoad> push(SymbolLoad load);

  // Removes the next load; those for which `wanted` (if set) is true come first. Nothing: the queue
  // is empty, or all wait for CPU time.
  using Wanted = std::function<bool(ObjectId)>;
  std::optional<SymbolLoad> take(const Wanted& wanted, MonotonicTime now);

  // Accounts the CPU time of a load to its user.
  void spend(const ShareOwner& owner, std::chrono::nanoseconds cpu, MonotonicTime now) {
    shares_.spend(owner, cpu, now);
  }

  // The earliest time at which take() may find more than it does now; max(): the queue is empty.
  [[nodiscard]] MonotonicTime next_time(MonotonicTime now) const;

  [[nodiscard]] std::size_t size() const { return size_; }
  std::vector<SymbolLoad> clear();

 private:
  struct Waiting {
    std::deque<SymbolLoad> loads;  // never empty
    std::uint64_t served = 0;      // when its last load was taken, counted in loads
  };
  using Users = std::unordered_map<ShareOwner, Waiting>;

  Users::iterator find_next(const Wanted& wanted, MonotonicTime now);
  SymbolLoad remove(Users::iterator user, const std::deque<SymbolLoad>::iterator& load);

  std::size_t waiting_;
  CpuShares shares_;
  Users users_;
  std::size_t size_ = 0;
  std::uint64_t served_ = 0;
};

}  // namespace offcpud
