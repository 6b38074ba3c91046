// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "cli/ctl_cli.h"

namespace CLI {
class App;
}  // namespace CLI

namespace offcpud {

// The flags of `offcpuctl diff`, which become parameters of /api/v1/changes. Must outlive the
// parsing.
class ChangesFlags {
 public:
  // Both must outlive the object.
  ChangesFlags(CLI::App& command, CtlOptions& options);
  ChangesFlags(const ChangesFlags&) = delete;  // CLI11 keeps pointers to the members
  ChangesFlags& operator=(const ChangesFlags&) = delete;

  // Call it after the parsing: --last becomes a parameter. Error: a fragment about a value.
  Status finish();

 private:
  CtlOptions& options_;
  std::string last_;
};

}  // namespace offcpud
