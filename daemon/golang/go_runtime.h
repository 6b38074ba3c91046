// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "golang/go_file.h"
#include "golang/go_layout.h"
#include "reader/memory_words.h"

namespace offcpud {

// What is needed to read the goroutines of a process.
struct GoRuntime {
  const GoLayout* layout = nullptr;
  std::string version;        // "go1.19.8", as it may be shown
  std::uint64_t all = 0;      // where runtime.allgs is: a slice of pointers to all goroutines
  std::uint32_t counter = 0;  // offset of g.trackingSeq, which counts how often one stopped
                              // running; 0: there is none (1.16), or it was not found
  std::vector<std::string> reasons;  // of waits, as the runtime names them, by number
};

enum class GoRefusal : std::uint8_t {
  Version,  // unknown, or a development version
  Memory,   // it could not be read, or does not look as this version's does
};

struct FoundGo {
  std::optional<GoRuntime> runtime;
  GoRefusal refusal = GoRefusal::Memory;  // if there is none
  std::string why;  // the rest of a sentence about it: "its version, go1.99, is not known"
};

// The length and capacity of a slice, and where its elements are.
struct GoSlice {
  std::uint64_t at = 0, length = 0, capacity = 0;
};
// nullopt: it cannot be read, or is no slice.
std::optional<GoSlice> read_go_slice(const MemoryWords& memory, std::uint64_t address);

// Looks at a process that runs the program `file`. `table`: its functions. `bias`: GoFile::bias().
// The memory is untrusted. Takes some 30 reads, and one of the program's variables, 8 MiB at most.
FoundGo find_go(const MemoryWords& memory, const GoFile& file, const GoFunctionTable& table,
                std::uint64_t bias);

}  // namespace offcpud
