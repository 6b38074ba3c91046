// SPDX-License-Identifier: Apache-2.0
#include "pipeline/thread_record.h"

#include <algorithm>

namespace offcpud {

std::uint64_t age_ns(const offcpud_thread& thread) {
  if ((thread.flags & OFFCPUD_THREAD_UNKNOWN) != 0 || thread.since_ns == 0) return 0;
  // The clocks of two CPUs may differ slightly.
  return thread.now_ns > thread.since_ns ? thread.now_ns - thread.since_ns : 0;
}

WaitAge age_of_deed(const offcpud_thread& thread) {
  if (thread.state == OFFCPUD_THREAD_BLOCKED) {
    return {.ns = age_ns(thread), .estimated = (thread.flags & OFFCPUD_THREAD_ESTIMATED) != 0};
  }
  const bool is_known = thread.awake_ns != 0 && thread.now_ns > thread.awake_ns;
  return {.ns = is_known ? thread.now_ns - thread.awake_ns : 0};
}

const offcpud_thread* find_thread(const ThreadWalk& walk, std::uint32_t tid) {
  if (tid == 0) return nullptr;
  const auto found = std::lower_bound(
      walk.threads.begin(), walk.threads.end(), tid,
      [](const offcpud_thread& thread, std::uint32_t wanted) { return thread.tid < wanted; });
  return found != walk.threads.end() && found->tid == tid ? &*found : nullptr;
}

}  // namespace offcpud
