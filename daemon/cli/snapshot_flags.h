// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "cli/ctl_cli.h"

namespace CLI {
class App;
}

namespace offcpud {

// The flags of `offcpuctl snapshot`; named as in bcc's offcputime where that has them.
class SnapshotFlags {
 public:
  // Both must outlive the parsing.
  SnapshotFlags(CLI::App& command, CtlOptions& options);

  // Call it after the parsing. Errors are fragments, ErrorKind::Usage.
  Status finish();

 private:
  void add_parameter(const std::string& flags, const std::string& name, const std::string& label,
                     const std::string& what);

  CLI::App& command_;
  CtlOptions& options_;
  unsigned seconds_ = 10;
  bool user_threads_ = false, kernel_threads_ = false;
  bool user_stacks_ = false, kernel_stacks_ = false;
  bool folded_ = false, off_wake_ = false;
};

}  // namespace offcpud
