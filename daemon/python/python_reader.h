// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "python/python_codes.h"
#include "python/python_frames.h"
#include "reader/process_memory.h"

namespace offcpud {

// A thread of a process with a CPython that is at rest.
struct PythonThread {
  std::uint32_t tgid = 0;
  std::uint32_t tid = 0;
  std::uint64_t thread_pointer = 0;        // fs base
  const PythonRuntime* runtime = nullptr;  // must outlive the call
};

struct PythonCalls {
  std::vector<PythonFrame> frames;  // innermost first
  PythonFrames::End end = PythonFrames::End::Root;
};

// Reads the stacks of threads at rest, in step with each other, so that a hundred of them take
// hardly more requests than one. Returns them in the same order. If a frame's code is no code
// object, the thread has no frames, and the end is Mismatch.
std::vector<PythonCalls> read_python_calls(ProcessMemory& memory,
                                           std::span<const PythonThread> threads);

}  // namespace offcpud
