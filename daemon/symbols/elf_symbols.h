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

// The functions of one ELF object, independent of its file, so that names outlive the process and
// the file. Immutable; any thread may look up.
class ElfSymbols {
 public:
  // A place to search for a separate debug file.
  struct DebugRoot {
    const RootDirectory* root;
    std::string object_path;  // absolute, below that root
  };

  // Reads the object open at `fd`, and its debug file if a root has it. The caller keeps the
  // descriptor, which is not needed afterwards. Uses at most 84 MiB of memory, and milliseconds
  // (0.1 s for the largest objects) besides the time of the file system. An object without symbols
  // is no error. What exceeds SymbolLimits is left out.
  static Result<ElfSymbols> read(int fd, const std::vector<DebugRoot>& debug_roots = {});

  // Reads an object in memory.
  static Result<ElfSymbols> read_image(std::string_view image);
  // Reads the vDSO. Error: the kernel maps none.
  static Result<ElfSymbols> read_vdso();

  [[nodiscard]] const FunctionIndex& functions() const { return functions_; }
  [[nodiscard]] const BuildId& build_id() const { return build_id_; }
  // What was left out because it exceeded SymbolLimits.
  [[nodiscard]] const ObjectRefusals& refused() const { return refused_; }

  // The ELF virtual address of an offset in the file; nothing: no segment loads it. An instruction
  // at `ip` has the offset ip - start of its mapping + offset of the mapping.
  [[nodiscard]] std::optional<std::uint64_t> address_of(std::uint64_t file_offset) const;

  [[nodiscard]] std::size_t bytes() const;  // memory that it uses

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
