// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "python/python_runtime.h"
#include "reader/memory_words.h"

namespace offcpud {

// What the GIL of a CPython says of itself. If two readings are equal, no other thread had it in
// between: the number of switches grows whenever a thread other than the last one takes it.
struct PythonGil {
  bool is_held = false;
  std::uint64_t holder = 0;    // the thread state of who has it, or had it last
  std::uint64_t switches = 0;  // so far
  std::uint32_t tid = 0;       // of the holder, in the PID namespace of its process; 0: not known

  friend bool operator==(const PythonGil&, const PythonGil&) = default;
};

// The address of the main interpreter's GIL, which other interpreters share unless they have one of
// their own. Takes no reads up to 3.11, then two.
std::optional<std::uint64_t> find_python_gil(const MemoryWords& memory,
                                             const PythonRuntime& runtime);

// Whether a thread waits for this GIL if it waits for a futex at that address.
bool is_python_gil(std::uint64_t gil, std::uint64_t futex);

// Nothing: it could not be read.
std::optional<PythonGil> read_python_gil(const MemoryWords& memory, const PythonRuntime& runtime,
                                         std::uint64_t gil);

}  // namespace offcpud
