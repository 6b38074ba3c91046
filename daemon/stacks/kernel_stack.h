// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "snapshot/snapshot.h"

namespace offcpud {

// The part of a kernel stack that says why the thread waited: without the frames of this program,
// of its tracepoint and of the scheduler's switch at the inner end. Innermost first, like `frames`.
// Nothing in the middle is removed.
std::span<const StackFrame> without_switch(std::span<const StackFrame> frames);

// The same for a waker. If an interrupt woke the thread, the stack ends with the entry of the
// interrupt, because the interrupted code has nothing to do with it.
std::span<const StackFrame> without_tracepoint(std::span<const StackFrame> frames, bool interrupt);

// Whether a waker's stack shows that a time was over for which the woken thread itself had asked:
// that of a sleep, or the limit of a wait. Other timers, such as those of timerfd, do not count.
// `frames`: innermost first; tracepoints may be among them.
bool is_of_own_timer(std::span<const StackFrame> frames);

}  // namespace offcpud
