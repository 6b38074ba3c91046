// SPDX-License-Identifier: Apache-2.0
#include "pipeline/unaccounted_time.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "pipeline/thread_record.h"

namespace offcpud {
namespace {

// All sums are modulo 2^64; the increase within an interval fits a signed number.
std::optional<double> ratio_of(const OpenTime& before, const OpenTime& now,
                               const AccountedTime& counted) {
  const std::uint64_t unaccounted =
      now.unaccounted_ns - before.unaccounted_ns + counted.unaccounted_ns;
  const auto lifetime = static_cast<std::int64_t>(counted.accounted_ns + now.in_progress_ns -
                                                  before.in_progress_ns + unaccounted);
  if (lifetime <= 0) return std::nullopt;
  const auto part = static_cast<double>(static_cast<std::int64_t>(unaccounted));
  return std::clamp(part / static_cast<double>(lifetime), -1.0, 1.0);
}

// Whether this is the same thread in both walks, followed by the programs in both. They report a
// thread without a state as ended.
bool is_followed(const offcpud_thread& before, const offcpud_thread& now) {
  return before.tid == now.tid && before.start_ns == now.start_ns &&
         before.state != OFFCPUD_THREAD_ENDED && now.state != OFFCPUD_THREAD_ENDED;
}

// Includes the time on the CPU in progress.
std::uint64_t running_time(const offcpud_thread& thread) {
  return thread.running_ns + (thread.state == OFFCPUD_THREAD_RUNNING ? age_ns(thread) : 0);
}

}  // namespace

void UnaccountedTime::end_interval(const InProgressByPath& walk, const AccountedByPath& accounted) {
  std::map<std::string, OpenTime, std::less<>> open;
  for (const auto& [path, cgroup] : walk) open.emplace(path, cgroup.open);
  // A cgroup whose threads all began and ended within the interval has no time in progress.
  for (const auto& [path, counted] : accounted) open.try_emplace(path);

  ratios_.clear();
  for (const auto& [path, now] : open) {
    const auto before = open_.find(path);
    if (before == open_.end()) continue;
    const auto counted = accounted.find(path);
    const auto ratio = ratio_of(before->second, now,
                                counted == accounted.end() ? AccountedTime{} : counted->second);
    if (ratio) ratios_.emplace(path, *ratio);
  }
  open_ = std::move(open);
}

std::optional<double> running_deviation(const ThreadWalk& before, const ThreadWalk& now) {
  std::int64_t counted = 0;
  std::int64_t of_kernel = 0;
  auto old = before.threads.begin();
  for (const offcpud_thread& thread : now.threads) {
    old = std::find_if(old, before.threads.end(),
                       [&](const offcpud_thread& other) { return other.tid >= thread.tid; });
    if (old == before.threads.end()) break;
    if (!is_followed(*old, thread)) continue;
    const auto ours = static_cast<std::int64_t>(running_time(thread) - running_time(*old));
    const auto theirs =
        static_cast<std::int64_t>(thread.kernel_running_ns - old->kernel_running_ns);
    // After exec a thread has the identity of its leader but its own counters.
    if (ours < 0 || theirs < 0) continue;
    counted += ours;
    of_kernel += theirs;
  }
  if (of_kernel == 0) return std::nullopt;
  return static_cast<double>(counted - of_kernel) / static_cast<double>(of_kernel);
}

}  // namespace offcpud
