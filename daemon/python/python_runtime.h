// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "jit/memory_words.h"
#include "python/python_layout.h"

namespace offcpud {

// A CPython in a process, as far as reading stacks needs it.
struct PythonRuntime {
  const PythonLayout* layout = nullptr;
  std::uint32_t thread_key = 0;  // the pthread key of the thread state, one of kThreadKeys
  std::uint64_t code_type = 0;   // PyCode_Type: the type of each code object
  // The C function that runs frames (_PyEval_EvalFrameDefault), or the part of it that has the
  // symbol; equal: it is not exported.
  std::uint64_t eval_begin = 0, eval_end = 0;
};

// glibc keeps the values of the first keys in struct pthread, to which the thread pointer points.
// Further ones are where only more reads would find them.
inline constexpr std::uint32_t kThreadKeys = 32;

enum class PythonRefusal : std::uint8_t {
  Version,  // unknown, or not a release
  Build,    // without the GIL, for debugging, or with another C library than glibc
  Memory,   // its memory could not be read, or says something else than this version's does
};

struct FoundPython {
  std::optional<PythonRuntime> runtime;
  PythonRefusal refusal = PythonRefusal::Memory;  // if there is none
  std::string why;  // the rest of a sentence about it: "its version, 3.15, is not known"
};

// Whether an object of this file name may have a CPython in it: "python3.11",
// "libpython3.8.so.1.0". Extension modules are others: "_queue.cpython-311-x86_64-linux-gnu.so".
bool may_be_python(std::string_view file_name);

// Looks at the object whose file is mapped from address `base` on. Takes some 30 reads.
FoundPython find_python(const MemoryWords& memory, std::uint64_t base, std::string_view file_name);

}  // namespace offcpud
