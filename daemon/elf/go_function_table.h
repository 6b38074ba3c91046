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

// A longer section is not read. The largest of Kubernetes' and Google's programs has 35 MiB.
inline constexpr std::uint64_t kMaxGoTable = 48 << 20;

// A function of a Go program: `begin` <= its addresses < `end`, never empty. As linked.
struct GoFunction {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string_view name;    // "main.(*Server).Serve"; may be empty
  std::uint32_t depth = 0;  // where its GoStackDepths begin; 0: they are not known
};

// The table of functions that Go's runtime uses: the section .gopclntab of Go 1.16 and later, which
// `strip` and `-ldflags=-s` leave in place. Layout: src/runtime/symtab.go (pcHeader, _func) and
// src/debug/gosym/pclntab.go of Go's sources. The bytes may be hostile, and must outlive the table;
// what makes no sense reads as absent. Immutable.
class GoFunctionTable {
 public:
  // Addresses as linked, for tables that do not say where their code begins (Go 1.26 and later).
  // Such a table counts only if `entry` is Go's: where another linker made the program, .text may
  // begin with other code.
  struct Program {
    std::uint64_t text = 0;   // of the section .text
    std::uint64_t entry = 0;  // of the program's first instruction
  };
  // nullopt: there is no table, or its version is not known.
  static std::optional<GoFunctionTable> open(Bytes section, const Program& program);

  [[nodiscard]] std::size_t size() const { return count_; }
  // By ascending addresses, index < size(). nullopt: an entry that makes no sense.
  [[nodiscard]] std::optional<GoFunction> function(std::size_t index) const;
  // The tables of stack depths.
  [[nodiscard]] Bytes depths() const { return depths_; }

 private:
  [[nodiscard]] std::uint64_t entry_word(std::size_t index) const;
  [[nodiscard]] bool begins_at(std::uint64_t entry) const;

  Bytes names_, depths_, functions_;
  std::uint64_t code_ = 0;  // what entries are relative to
  std::size_t count_ = 0;
  std::size_t entry_size_ = 4;  // of half an entry of the table of functions
};

// The section of a Go program, in memory.
struct GoSection {
  std::vector<std::uint8_t> bytes;  // empty: the file has none
  GoFunctionTable::Program program;
};

// An error if the section cannot be read, ErrorKind::Unsupported if it has more than `most` bytes.
Result<GoSection> read_go_section(const ElfFile& file, std::uint64_t most = kMaxGoTable);

// How far the stack pointer is below the return address of a function, for each range of its
// instructions: the function's "pcsp" table.
class GoStackDepths {
 public:
  GoStackDepths(const GoFunctionTable& table, const GoFunction& function)
      : reader_(
            table.depths().subspan(std::min<std::size_t>(function.depth, table.depths().size()))),
        end_(function.begin) {}

  // The next range, begin() up to end(). False: there is none, or what follows makes no sense.
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
