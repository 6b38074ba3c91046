// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "python/python_reader.h"
#include "stacks/interpreted_stack.h"
#include "unwind/remote_walk.h"

namespace offcpud {

// Decides in place of which frame of the interpreter each function of Python is shown:
// - From 3.11 on: the frame whose part of the stack contains the address PythonFrame::host.
// - Up to 3.10: the interpreter has one frame of C for each function of Python. They are paired,
//   the innermost first, if there are as many of both, or if the walk ended early. Otherwise all
//   functions are shown in place of everything from the first to the last of those frames, which is
//   right if no other C function lies in between.
// A function without such a frame is shown at the root of the stack: walks begin at the innermost
// frame, so what they miss is outermost. InterpretedStack::id is not set.
InterpretedStack place_python(const PythonCalls& calls, const PythonRuntime& runtime,
                              const RemoteStack& stack);

}  // namespace offcpud
