// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/result.h"
#include "base/unique_handle.h"
#include "kernel/bpf_session.h"
#include "pipeline/reading_source.h"

namespace offcpud {

// Walks over all threads of the daemon's PID namespace, repeatedly. Used by one thread; the session
// must outlive it.
class ThreadWalker {
 public:
  explicit ThreadWalker(const BpfSession& session) : session_(session) {}

  // Continues the walk for `budget` of this thread's CPU time or a little longer: at least some
  // hundred threads each time, so that every walk ends. Returns the walk when it is complete, else
  // null.
  Result<std::shared_ptr<const ThreadWalk>> advance(std::chrono::nanoseconds budget);

 private:
  Result<bool> read_some();
  std::shared_ptr<const ThreadWalk> take();

  const BpfSession& session_;
  UniqueFd walk_;                   // open while a walk is in progress
  std::vector<std::byte> records_;  // of this walk so far
  unsigned passes_ = 0;
};

}  // namespace offcpud
