// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_shares.h"

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace offcpud {

std::chrono::nanoseconds CpuShares::left(const Account& account, MonotonicTime now) const {
  const auto elapsed = std::chrono::duration<double, std::nano>(now - account.since).count();
  const double sum = static_cast<double>(account.left.count()) + elapsed * limits_.per_second;
  const auto most = static_cast<double>(limits_.at_once.count());
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(sum, most)));
}

std::chrono::nanoseconds CpuShares::left(const ShareOwner& owner, MonotonicTime now) const {
  const auto found = spent_.find(owner);
  return found == spent_.end() ? limits_.at_once : left(found->second, now);
}

void CpuShares::spend(const ShareOwner& owner, std::chrono::nanoseconds cpu, MonotonicTime now) {
  // In one statement, gcc would create the entry first, and left() would find that one.
  const Account account{.left = left(owner, now) - cpu, .since = now};
  spent_.insert_or_assign(owner, account);
  std::erase_if(spent_,
                [&](const auto& entry) { return left(entry.second, now) >= limits_.at_once; });
}

MonotonicTime CpuShares::next_time(const ShareOwner& owner, MonotonicTime now) const {
  const std::chrono::nanoseconds has = left(owner, now);
  if (has > std::chrono::nanoseconds(0)) return now;
  const auto missing = static_cast<double>(1 - has.count());
  return now +
         std::chrono::nanoseconds(static_cast<std::int64_t>(missing / limits_.per_second) + 1);
}

std::chrono::nanoseconds thread_cpu_time() {
  timespec time{};
  (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);  // fails for unknown clocks only
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace offcpud
