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

// What waits to be read, by the user for whom it is: an object's functions, or something else that
// is known by a number of the same kind.
struct SymbolLoad {
  using Job = std::function<void(SymbolCache&)>;

  ObjectId id = 0;
  ShareOwner owner;
  ObjectFile file;             // of an object
  Job job;                     // otherwise: what reads it
  const char* what = nullptr;  // a literal for the heartbeat
};

// In which order loads are done, so that nobody's programs delay the names of others by what they
// cost. Each user has CPU time to spend (CpuShares): the one with most of it left is next, and who
// has none left waits. When the queue is full, the user with most in it gives one back.
//
// Time is what the caller says it is. Not thread-safe.
class LoadQueue {
 public:
  struct Limits {
    std::size_t waiting = 128;
    CpuShares::Limits cpu = {};
  };
  explicit LoadQueue(const Limits& limits) : waiting_(limits.waiting), shares_(limits.cpu) {}

  // What has to go without: `load` itself, or the one that came last of the user who has most in
  // the queue. Nothing: there was room.
  std::optional<SymbolLoad> push(SymbolLoad load);

  // The next one. Of those for which `wanted` is true first, if it is not empty. Nothing: none, or
  // all of them wait for CPU time.
  using Wanted = std::function<bool(ObjectId)>;
  std::optional<SymbolLoad> take(const Wanted& wanted, MonotonicTime now);

  // What a load of this user took.
  void charge(const ShareOwner& owner, std::chrono::nanoseconds cpu, MonotonicTime now) {
    shares_.charge(owner, cpu, now);
  }

  // When take() may find something that it does not find now; max() if nothing waits.
  [[nodiscard]] MonotonicTime next_time(MonotonicTime now) const;

  [[nodiscard]] std::size_t size() const { return size_; }
  std::vector<SymbolLoad> clear();

 private:
  struct Waiting {
    std::deque<SymbolLoad> loads;  // never empty
    std::uint64_t served = 0;      // when the last one was taken, in loads
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
