// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "holders/lock_holder.h"

namespace offcpud {

// A thread that waits for the GIL of its process, as the last look at the process saw it. CPython
// waits some milliseconds at a time, again and again, so its blocks do not last, but its wait may.
// Numbers are those of the initial PID namespace.
struct GilWait {
  std::uint32_t tid = 0, tgid = 0;
  std::uint32_t local_tgid = 0;  // in the daemon's PID namespace
  std::uint64_t cgroup_id = 0;
  std::uint64_t since_ns = 0;  // it has waited at least since then
  std::uint64_t block_ns = 0;  // the beginning of its block
  std::uint64_t seen_ns = 0;   // CLOCK_MONOTONIC, as all of these
  std::uint8_t unseen = 0;     // looks in a row at which it was not blocked
  // Null: `look` says why none is told.
  std::shared_ptr<const LockHolder> holder = nullptr;
  LockLook look = LockLook::SeenOnce;
};

}  // namespace offcpud
