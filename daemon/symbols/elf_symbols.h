// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/object_refusal.h"
#include "base/result.h"
#include "elf/build_id.h"
#include "symbols/function_index.h"
#include "symbols/rooted_path.h"

namespace offcpud {

class ByteSource;
class ElfFile;

// The functions of one ELF object, kept without its file: names survive the process and the file.
// Immutable once read; any thread may look up.
class ElfSymbols {
 public:
  // Where a separate debug file may be.
  struct DebugRoot {
    const RootDirectory* root;
    std::string object_path;  // absolute, below that root
  };

  // Reads the object that `fd` is open on, and its debug file if a root has it. The caller keeps
  // the descriptor, which is not needed afterwards. Takes at most 80 MiB of memory, and
  // milliseconds (0.1 s for the largest objects) beside the time that the file system takes. An
  // object without any symbol is not an error; what asks for more than SymbolLimits is left out.
  static Result<ElfSymbols> read(int fd, const std::vector<DebugRoot>& debug_roots = {});

  // Reads an object in memory.
  static Result<ElfSymbols> read_image(std::string_view image);
  // Reads the vDSO; an error where the kernel maps none.
  static Result<ElfSymbols> read_vdso();

  [[nodiscard]] const FunctionIndex& functions() const { return functions_; }
  [[nodiscard]] const BuildId& build_id() const { return build_id_; }
  // What was left out because the object asked for more than SymbolLimits.
  [[nodiscard]] const ObjectRefusals& refused() const { return refused_; }

  // The ELF virtual address of an offset in the file, or nothing if no segment loads it. The offset
  // of an instruction at `ip` in a mapping is ip - the mapping's start + the mapping's offset.
  [[nodiscard]] std::optional<std::uint64_t> address_of(std::uint64_t file_offset) const;

  [[nodiscard]] std::size_t bytes() const;  // of memory that it takes

  bool operator==(const ElfSymbols&) const = default;

 private:
  struct LoadedSegment {
    std::uint64_t offset;
    std::uint64_t size;
    std::uint64_t address;
    bool executable;
    bool operator==(const LoadedSegment&) const = default;
  };

  static Result<ElfSymbols> read_from(const ByteSource& source,
                                      const std::vector<DebugRoot>& debug_roots, int fd);
  void keep_segments(const ElfFile& file);
  void add_functions(const ElfFile& file, FunctionList& list);
  void add_embedded_functions(const ElfFile& object, FunctionList& list);
  void add_debug_functions(const ElfFile& object, int fd, const std::vector<DebugRoot>& debug_roots,
                           FunctionList& list);

  FunctionIndex functions_;
  BuildId build_id_;
  std::vector<LoadedSegment> segments_;  // executable ones first
  ObjectRefusals refused_;
};

}  // namespace offcpud
