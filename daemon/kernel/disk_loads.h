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

// Reads who loads which disk, as the kernel programs of the feature "disk_loads" count it. The
// BpfReadingSource owns it and uses it on its own thread. The session must outlive it.
class DiskLoads {
 public:
  explicit DiskLoads(BpfSession& session) : session_(session) {}

  // Reads the requests that were done since the last call; nothing if the programs do not count. To
  // make room, removes kernel entries that have not changed for ten minutes or, once half of the
  // table is in use, since the last call.
  Status read(MonotonicTime now);

  // What read() has found since the last call of take().
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
