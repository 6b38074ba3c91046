// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "cli/ctl_cli.h"

namespace CLI {
class App;
}  // namespace CLI

namespace offcpud {

// The flags of `offcpuctl why`, which become parameters of /api/v1/why. Must outlive the parsing.
class WhyFlags {
 public:
  // Both must outlive the object.
  WhyFlags(CLI::App& command, CtlOptions& options);
  WhyFlags(const WhyFlags&) = delete;  // CLI11 keeps pointers to the members
  WhyFlags& operator=(const WhyFlags&) = delete;

  // Call it after the parsing: the subject becomes a parameter.
  Status finish();

 private:
  CtlOptions& options_;
  std::string subject_;
};

}  // namespace offcpud
