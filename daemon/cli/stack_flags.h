// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "cli/ctl_cli.h"

namespace CLI {
class App;
}  // namespace CLI

namespace offcpud {

// The flags of commands that ask for kept snapshots; they become parameters of /api/v1/snapshots
// and the paths below it. Must outlive the parsing.
class StackFlags {
 public:
  // Both must outlive the object.
  StackFlags(CLI::App& command, CtlOptions& options);
  StackFlags(const StackFlags&) = delete;  // CLI11 keeps pointers to the members
  StackFlags& operator=(const StackFlags&) = delete;

  // Call it after the parsing: --last becomes a parameter. Error: a fragment about a value.
  Status finish();

 private:
  void add_parameter(const std::string& flag, const std::string& label, const std::string& what);
  void add_filters();
  void add_difference();

  CLI::App& command_;
  CtlOptions& options_;
  std::string last_;
};

// Add the flags that only `snapshots` or `flame` has.
void add_snapshots(CLI::App& command, CtlOptions& options);
void add_flame(CLI::App& command, CtlOptions& options);

// Check the flags of one command together. Errors are fragments.
Status finish_snapshots(CtlOptions& options);
Status finish_flame(CtlOptions& options);

}  // namespace offcpud
