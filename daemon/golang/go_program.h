// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "golang/go_functions.h"
#include "golang/go_runtime.h"
#include "mappings/file_opener.h"
#include "mappings/proc_maps.h"
#include "reader/process_memory.h"

namespace offcpud {

// The files of the Go programs that are read now, so that processes of one program share its table
// of functions. Used by one thread.
class GoFiles {
 public:
  // Null: it is not among them.
  [[nodiscard]] std::shared_ptr<const GoFile> find(const InodeId& inode) const;
  void add(const InodeId& inode, const std::shared_ptr<const GoFile>& file);
  // The bytes of the tables that are in use; forgets all others.
  std::size_t table_bytes();

 private:
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;
  static Key key_of(const InodeId& inode) {
    return {inode.device_major, inode.device_minor, inode.inode};
  }
  std::map<Key, std::weak_ptr<const GoFile>> files_;
};

// A process that runs a Go program: what is needed to read its goroutines, and to name their
// functions. Has the program's table of functions, kMaxGoTable at most. Used by one thread.
class GoProgram {
 public:
  // The means to read other processes; all must outlive the call.
  struct Sources {
    ProcessReader& processes;
    FileOpener& files;
    ProcessMemory& memory;
    GoFiles* shared = nullptr;  // null: the process shares its file with nobody
    GoFunctions::Limits functions{};
  };
  // Looks at the first files that the process executes. The error is a sentence about the process.
  // NotFound: it is gone, or runs no Go program. Unsupported: its version of Go or its table of
  // functions is unknown, or its memory does not look as that version's does.
  static Result<std::unique_ptr<GoProgram>> open(const Sources& sources, std::uint32_t tgid);

  // The name of the file, without folders, printable.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const GoRuntime& runtime() const { return runtime_; }
  [[nodiscard]] GoFunctions& functions() { return functions_; }

 private:
  GoProgram(std::string name, std::shared_ptr<const GoFile> file, GoRuntime runtime,
            GoFunctions functions);

  std::string name_;
  std::shared_ptr<const GoFile> file_;  // has the bytes of the table
  GoRuntime runtime_;
  GoFunctions functions_;
};

}  // namespace offcpud
