// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"
#include "elf/elf_file.h"

namespace offcpud {

// Limit for the section. The largest one in programs of Kubernetes and Google has 35 MiB.
inline constexpr std::uint64_t kMaxGoTable = 48 << 20;

// A function of a Go program, never empty. `begin` <= its addresses < `end`, as linked.
struct GoFunction {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string_view name;    // "main.(*Server).Serve"; may be empty
  std::uint32_t depth = 0;  // start of its GoStackDepths; 0: they are unknown
};

// Go's own table of functions: the section .gopclntab of Go 1.16 and later, which `strip` and
// `-ldflags=-s` keep. Layout: src/runtime/symtab.go (pcHeader, _func) and
// src/debug/gosym/pclntab.go in Go's sources. The bytes are untrusted and must outlive the table;
// invalid parts count as absent. Immutable.
class GoFunctionTable {
 public:
  // Addresses as linked, for tables that do not say where their code begins (Go 1.26 and later).
  // Such a table is used only if Go's entry function is at `entry`: another linker may have put
  // other code at the start of .text.
  struct Program {
    std::uint64_t text = 0;   // of the section .text
    std::uint64_t entry = 0;  // address of the first instruction
  };
  // `code`: where its code begins as linked, if only the memory of a process says so. nullopt:
  // there is no table, or its version is unknown.
  static std::optional<GoFunctionTable> open(Bytes section, const Program& program,
                                             std::optional<std::uint64_t> code = std::nullopt);

  [[nodiscard]] std::size_t size() const { return count_; }
  // Ascending by address; index < size(). nullopt: the entry is invalid.
  [[nodiscard]] std::optional<GoFunction> function(std::size_t index) const;
  // The function at an address. nullopt: none is there, or its entry is invalid.
  [[nodiscard]] std::optional<GoFunction> find(std::uint64_t address) const;
  // The bytes of all GoStackDepths.
  [[nodiscard]] Bytes depths() const { return depths_; }

 private:
  [[nodiscard]] std::uint64_t entry_word(std::size_t index) const;
  [[nodiscard]] bool begins_at(std::uint64_t entry) const;

  Bytes names_, depths_, functions_;
  std::uint64_t code_ = 0;  // base of relative addresses
  std::size_t count_ = 0;
  std::size_t entry_size_ = 4;  // bytes of one of the two fields of an entry of functions_
};

// The bytes of Go's table in a file.
struct GoSection {
  std::vector<std::uint8_t> bytes;  // empty: the file has none
  std::uint64_t address = 0;        // where they begin, as linked
  GoFunctionTable::Program program;
};

// Error: the section cannot be read; ErrorKind::Unsupported: it has more than `most` bytes.
Result<GoSection> read_go_section(const ElfFile& file, std::uint64_t most = kMaxGoTable);

// The same for a program whose table is within .data.rel.ro: the C compiler's linker puts it there,
// if a program contains C and may be loaded anywhere (-buildmode=pie). Takes the first place that
// looks like the beginning of a table. Does not search a section of more than kMaxGoTable bytes.
Result<GoSection> find_go_section(const ElfFile& file);

// Distance from the stack pointer to the return address of a function, for each range of its
// instructions: the function's "pcsp" table.
class GoStackDepths {
 public:
  GoStackDepths(const GoFunctionTable& table, const GoFunction& function)
      : reader_(
            table.depths().subspan(std::min<std::size_t>(function.depth, table.depths().size()))),
        end_(function.begin) {}

  // Reads the next range, begin() up to end(). False: there is none, or the table is invalid.
  bool next();
  [[nodiscard]] std::uint64_t begin() const { return begin_; }
  [[nodiscard]] std::uint64_t end() const { return end_; }
  [[nodiscard]] std::int32_t depth() const { return depth_; }

 private:
  std::uint32_t take();

  ByteReader reader_;
  std::uint64_t begin_ = 0, end_;
  std::int32_t depth_ = -1;
  bool first_ = true;
};

}  // namespace offcpud
