// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <vector>

#include "base/unique_handle.h"

namespace offcpud {

// Hung readers from an earlier run of the daemon, which the kernel could not end. They remain
// because the unit has KillMode=process, or because the daemon is started again in the same cgroup
// by other means. Used by one thread.
class LeftoverReaders {
 public:
  // Looks for readers without a spawner among the processes listed in the file `neighbours`, such
  // as cgroup.procs, and kills them again. Finds none if there is no such file. Does not wait.
  static LeftoverReaders find(const std::filesystem::path& neighbours,
                              const std::filesystem::path& proc = "/proc");

  // Those that have not ended yet.
  std::vector<pid_t> remaining();

 private:
  struct Leftover {
    pid_t pid;
    UniqueFd handle;  // readable once it has ended
  };
  std::vector<Leftover> readers_;
};

}  // namespace offcpud
