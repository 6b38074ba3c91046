// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/object_refusal.h"
#include "base/result.h"
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

  // Reads the object that `fd` is open on, and its debug file if a root has it. The descriptor
  // stays the caller's and is not needed afterwards. Takes milliseconds, for the largest objects a
  // tenth of a second, and as long as the file system does, and 80 MiB of memory at most. An object
  // without any symbol is not an error; what asks for more than SymbolLimits is left out.
  static Result<ElfSymbols> read(int fd, const std::vector<DebugRoot>& debug_roots = {});

  // Of an image in memory, such as the vDSO's.
  static Result<ElfSymbols> read_image(std::string_view image);

  [[nodiscard]] const FunctionIndex& functions() const { return functions_; }
  [[nodiscard]] const std::string& build_id() const { return build_id_; }  // bytes, may be empty
  // What was left out, as the object asked for more than SymbolLimits.
  [[nodiscard]] const ObjectRefusals& refused() const { return refused_; }

  // The ELF virtual address of an offset in the file: that of an instruction at `ip` in a mapping
  // is ip - start of the mapping + its offset. Nothing for what no segment loads.
  [[nodiscard]] std::optional<std::uint64_t> address_of(std::uint64_t file_offset) const;

  [[nodiscard]] std::size_t bytes() const;  // that it takes in memory

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
  std::string build_id_;
  std::vector<LoadedSegment> segments_;  // executable ones first
  ObjectRefusals refused_;
};

}  // namespace offcpud
