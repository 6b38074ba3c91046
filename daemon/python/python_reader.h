// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "python/python_codes.h"
#include "python/python_frames.h"
#include "reader/process_memory.h"

namespace offcpud {

// A thread that is at rest, in a process that has a CPython.
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

// Reads the stacks of threads at rest. Each request has the next read of every thread, so that a
// hundred threads take hardly more requests than one. Returns the stacks in the same order. If a
// frame's code is no code object, the thread has no frames, and its end is Mismatch.
std::vector<PythonCalls> read_python_calls(ProcessMemory& memory,
                                           std::span<const PythonThread> threads);

}  // namespace offcpud
