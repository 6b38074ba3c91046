// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "disk.h"
#include "kernel/bpf_session.h"
#include "pipeline/disk_load.h"
#include "pipeline/view.h"

namespace offcpud {

// Reads who loads which disk, as the programs of the feature "disk_loads" count it. Owned by the
// BpfReadingSource, on its thread; the session must outlive it.
class DiskLoads {
 public:
  explicit DiskLoads(BpfSession& session) : session_(session) {}

  // Reads what has been done; nothing if nobody counts. Removes the kernel's entries of those who
  // have done nothing for long, to make room.
  Status read(MonotonicTime now);

  // What was read since the last call.
  [[nodiscard]] std::vector<DiskLoadReading> take() { return std::exchange(gained_, {}); }

  // How full the kernel's table was.
  [[nodiscard]] MapUsage usage() const;

 private:
  using Key = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>;
  struct Entry {
    DiskLoad load;
    MonotonicTime changed;
    bool seen = false;  // in the last reading
  };
  void remove_idle(MonotonicTime now);

  BpfSession& session_;
  std::map<Key, Entry> entries_;
  std::vector<DiskLoadReading> gained_;
};

}  // namespace offcpud
