// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "pipeline/reading_source.h"

namespace offcpud {

// When every record of these is read, unless a test says otherwise.
inline constexpr std::uint64_t kReadAt = 1'000'000'000'000'000;

// A thread of the cgroup that has been in `state` for `age_ns`.
inline offcpud_thread thread_in(offcpud_thread_state state, std::uint64_t cgroup_id,
                                std::uint64_t age_ns) {
  offcpud_thread thread{};
  thread.now_ns = kReadAt;
  thread.since_ns = kReadAt - age_ns;
  thread.cgroup_id = cgroup_id;
  thread.state = state;
  return thread;
}

inline offcpud_thread blocked_thread(std::uint64_t cgroup_id, offcpud_hist_kind reason,
                                     std::uint64_t age_ns) {
  offcpud_thread thread = thread_in(OFFCPUD_THREAD_BLOCKED, cgroup_id, age_ns);
  thread.kind = reason;
  return thread;
}

inline std::shared_ptr<const ThreadWalk> walk_of(std::vector<offcpud_thread> threads) {
  auto walk = std::make_shared<ThreadWalk>();
  walk->threads = std::move(threads);
  return walk;
}

}  // namespace offcpud
