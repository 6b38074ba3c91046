// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "python/python_layout.h"
#include "reader/memory_words.h"

namespace offcpud {

// What is needed to read the stacks of a process with a CPython.
struct PythonRuntime {
  const PythonLayout* layout = nullptr;
  std::uint64_t address = 0;     // of _PyRuntime
  std::uint32_t thread_key = 0;  // the pthread key of the thread state, one of kThreadKeys
  std::uint64_t code_type = 0;   // PyCode_Type: the type of each code object
  // The C function that runs frames (_PyEval_EvalFrameDefault), or the part of it that has the
  // symbol. Both are 0 if it is not exported.
  std::uint64_t eval_begin = 0, eval_end = 0;
};

// glibc keeps the values of this many keys in struct pthread, to which the thread pointer points.
// The values of further keys are not read: that would take more reads.
inline constexpr std::uint32_t kThreadKeys = 32;

enum class PythonRefusal : std::uint8_t {
  Version,  // unknown, or an alpha or beta
  Build,    // without the GIL, for debugging, or with another C library than glibc
  Memory,   // it could not be read, or does not look as this version's does
};

struct FoundPython {
  std::optional<PythonRuntime> runtime;
  PythonRefusal refusal = PythonRefusal::Memory;  // if there is none
  std::string why;  // the rest of a sentence about it: "its version, 3.15, is not known"
};

// Whether an object of this file name may contain a CPython, as "python3.11" and
// "libpython3.8.so.1.0" do. Extension modules do not: "_queue.cpython-311-x86_64-linux-gnu.so".
bool may_be_python(std::string_view file_name);

// Looks at the object whose file is mapped from address `base` on. Takes some 30 reads.
FoundPython find_python(const MemoryWords& memory, std::uint64_t base, std::string_view file_name);

}  // namespace offcpud
