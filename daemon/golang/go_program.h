// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "golang/go_functions.h"
#include "golang/go_runtime.h"
#include "mappings/file_opener.h"
#include "mappings/proc_maps.h"
#include "reader/process_memory.h"

namespace offcpud {

// A process that runs a Go program: what is needed to read its goroutines, and to name their
// functions. Has the program's table of functions, kMaxGoTable at most. Used by one thread.
class GoProgram {
 public:
  // What asks about other processes; all must outlive the call.
  struct Sources {
    ProcessReader& processes;
    FileOpener& files;
    ProcessMemory& memory;
  };
  // Looks at the first files that the process executes. The error is a sentence about the process.
  // NotFound: it is gone, or runs no Go program. Unsupported: the program is not one that is known.
  static Result<std::unique_ptr<GoProgram>> open(const Sources& sources, std::uint32_t tgid);

  // Of the file, without folders, as it may be shown.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const GoRuntime& runtime() const { return runtime_; }
  [[nodiscard]] GoFunctions& functions() { return functions_; }

 private:
  GoProgram(std::string name, GoFile file, GoRuntime runtime, const GoFunctionTable& table,
            std::uint64_t bias);

  std::string name_;
  GoFile file_;  // has the bytes of the table; moving them keeps them in place
  GoRuntime runtime_;
  GoFunctions functions_;
};

}  // namespace offcpud
