// SPDX-License-Identifier: Apache-2.0
#include "deadlock_journal.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "base/printable.h"
#include "base/text.h"
#include "runtime/logging.h"
#include "runtime/message_ids.h"

namespace offcpud {
namespace {

std::string thread_text(const LockHolder& holder) {
  return numbered(comm_text(holder.comm), holder.local_tid) + " of " +
         numbered(comm_text(holder.process.comm), holder.process.local_tgid);
}

}  // namespace

// Each thread is the holder that the one before it waits for.
std::string deadlock_text(const Deadlock& deadlock) {
  const bool alone = deadlock.size() == 1;
  std::string text = "deadlock of " + std::to_string(deadlock.size()) +
                     (alone ? " thread in " : " threads in ") + printable(deadlock.front().cgroup) +
                     ": ";
  const std::size_t named = std::min(deadlock.size(), DeadlockJournal::kMostNamed);
  for (std::size_t i = 0; i < named; ++i) {
    const LockHolder& holder = *deadlock[i].holder;
    const LockHolder& waiter = *deadlock[(i + deadlock.size() - 1) % deadlock.size()].holder;
    if (i > 0) text += ", ";
    text += thread_text(waiter) + " waits for a " + std::string(name_of(holder.kind)) + " that " +
            thread_text(holder) + " holds";
  }
  return named < deadlock.size() ? text + ", ..." : text;
}

void DeadlockJournal::record(const std::vector<Deadlock>* deadlocks) {
  const MonotonicTime now = clock_.now();
  for (const Deadlock& deadlock : deadlocks ? std::span(*deadlocks) : std::span<const Deadlock>()) {
    const HeldWait& first = deadlock.front();
    const Id id(first.tid, first.since_ns);
    if (!told_.contains(id)) {
      if (!budget_.admit(1)) continue;
      log_warning(deadlock_text(deadlock), {{kMessageId, kDeadlockId},
                                            {"threads", std::to_string(deadlock.size())},
                                            {"cgroup", printable(first.cgroup)},
                                            {"pid", std::to_string(first.pid)}});
    }
    told_[id] = now;
  }
  std::erase_if(told_, [now](const auto& one) { return now - one.second > kForgotten; });
}

}  // namespace offcpud
