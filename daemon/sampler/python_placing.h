// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "python/python_reader.h"
#include "stacks/interpreted_stack.h"
#include "unwind/remote_walk.h"

namespace offcpud {

// Says which frame of the interpreter each function of Python is shown in the place of:
// - From 3.11 on: the one that has the address of PythonFrame::host on its part of the stack.
// - Up to 3.10: one frame of the C function that runs frames for each, if there are as many of
// both,
//   or if the walk of the stack ended early. Otherwise all of them, in order, in the place of all
//   from the first to the last of those frames, which is right where there is one run of them.
// What has no such frame is shown outside of the whole stack: walks begin inside.
// Without the id.
InterpretedStack place_python(const PythonCalls& calls, const PythonRuntime& runtime,
                              const RemoteStack& stack);

}  // namespace offcpud
