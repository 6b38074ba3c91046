// SPDX-License-Identifier: Apache-2.0
// What the threads of `contended` write while they have their lock, in a file that the tester maps:
// who has it at this moment, whatever the lock's own memory says.
#pragma once

#include <atomic>
#include <cstdint>

namespace workload {

struct LockedWord {
  // The low 32 bits: the thread that has the lock to write, by its number in its PID namespace; 0:
  // none, or none yet. The high ones: how often such a thread took it so far.
  std::atomic<std::uint64_t> writer;
  // The same of threads that only read: their number, and how many took it so far.
  std::atomic<std::uint64_t> readers;
  std::atomic<std::uint64_t> contended;  // how often it was taken while others waited for it
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace workload
