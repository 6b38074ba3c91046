// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <vector>

#include "base/unique_handle.h"

namespace offcpud {

// Readers of an earlier run of the daemon that hang and that the kernel therefore has not ended.
// The unit's KillMode=process leaves them where they are, and so does whoever starts the daemon
// again in the same cgroup. Used by one thread.
class LeftoverReaders {
 public:
  // Looks among the processes whose numbers are in the file `neighbours`, such as cgroup.procs, for
  // readers that no spawner looks after any more, and kills them once more. None are found where
  // there is no such file. Waits for nobody.
  static LeftoverReaders find(const std::filesystem::path& neighbours,
                              const std::filesystem::path& proc = "/proc");

  // Those that have not ended.
  std::vector<pid_t> remaining();

 private:
  struct Leftover {
    pid_t pid;
    UniqueFd handle;  // readable once it has ended
  };
  std::vector<Leftover> readers_;
};

}  // namespace offcpud
