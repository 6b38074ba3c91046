// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace offcpud {

// Where one minor version of CPython keeps what is read of its frames: offsets in bytes, on x86-64,
// in builds with the GIL and without Py_DEBUG. They come from the installed headers of each version
// (offsetof). They are part of no stable interface, but patch releases keep them, because
// extensions compiled for the minor version use them.
struct PythonLayout {
  std::uint32_t minor = 0;
  // _PyRuntime
  std::uint32_t thread_key = 0;    // autoTSSkey._key, 4 bytes: the pthread key of the thread state
  std::uint32_t interpreters = 0;  // interpreters.head
  // The GIL's struct _gil_runtime_state: up to 3.11 in _PyRuntime, then a pointer to it in
  // PyInterpreterState.
  std::uint32_t gil = 0;
  // PyThreadState
  std::uint32_t thread_id = 0;  // pthread_self(): with glibc, the thread pointer
  std::uint32_t frame = 0;      // the innermost frame; in 3.11 and 3.12 the innermost _PyCFrame
  // _PyCFrame
  bool has_cframes = false;
  std::uint32_t cframe_frame = 0, cframe_previous = 0;
  // PyFrameObject up to 3.10, then _PyInterpreterFrame
  std::uint32_t code = 0, previous = 0, instruction = 0, owner = 0, is_entry = 0;
  std::uint32_t frame_bytes = 0;
  // PyCodeObject. `name`: of the qualified name; before 3.11 of the plain one.
  std::uint32_t file = 0, name = 0, first_line = 0, lines = 0, instructions = 0, code_bytes = 0;
  // str: where the characters begin, in ASCII strings and in others
  std::uint32_t ascii = 0, compact = 0;

  // A frame says how far its instruction is from the beginning of the code, in units of this many
  // bytes. 0: it has the address of the instruction.
  [[nodiscard]] std::uint32_t instruction_unit() const {
    return minor <= 9 ? 1 : minor == 10 ? 2 : 0;
  }
  // Each C function that runs frames runs exactly one, and no address says which.
  [[nodiscard]] bool is_one_each() const { return minor <= 10; }
  // Each C function that runs frames has a shim frame among those of Python.
  [[nodiscard]] bool has_shims() const { return minor >= 12; }
  [[nodiscard]] bool has_gil_pointer() const { return minor >= 12; }
  // PyThreadState has the number that the kernel gave the thread, behind its thread_id.
  [[nodiscard]] bool has_native_id() const { return minor >= 11; }
  [[nodiscard]] std::uint32_t native_id() const { return thread_id + 8; }
  // A build says its own offsets: _Py_DebugOffsets at the start of _PyRuntime.
  [[nodiscard]] bool has_debug_offsets() const { return minor >= 13; }
};

// Null: the version is not known.
const PythonLayout* find_python_layout(std::uint32_t minor);

// Whether a layout agrees with the interpreter's own offsets, which it has from 3.13 on
// (_Py_DebugOffsets, pycore_debug_offsets.h).
enum class DebugOffsets : std::uint8_t { Agree, Differ, FreeThreaded };
inline constexpr std::size_t kDebugOffsetsBytes = 512;  // enough for what is compared
// `bytes`: the start of _PyRuntime. Returns Differ if they are too few.
DebugOffsets compare_debug_offsets(const PythonLayout& layout, std::span<const std::byte> bytes);

}  // namespace offcpud
