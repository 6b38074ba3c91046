// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "sample.h"
#include "waited.h"

namespace offcpud {

// The function that rules see as the innermost one of a thread that waits for a mutex or a
// semaphore of the kernel. The stacks of walks lack it: the kernel leaves the functions that wait
// for its locks out of the stacks of other threads (kernel/stacktrace.c, stack_trace_save_tsk).
// Without it, the rules would judge by the callers: the second reader of a terminal would seem to
// wait for input.
inline constexpr std::string_view kLockFunction = "mutex_lock";

// Whether the stack lacks that function.
constexpr bool lacks_lock_function(const offcpud_sample& sample) {
  return (sample.waited_on & OFFCPUD_ON_LOCK) != 0;
}

}  // namespace offcpud
