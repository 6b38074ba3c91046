// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "snapshot/snapshot.h"

namespace offcpud {

// What of a kernel stack says why the thread waited: without this program's own frames, those of
// the tracepoint it hangs on and the scheduler's switch at the inner end. Innermost first, in and
// out; nothing is taken from the middle.
std::span<const StackFrame> without_switch(std::span<const StackFrame> frames);

// The same of a waker. When an interrupt woke, what it interrupted has nothing to do with it: the
// stack ends with the entry of the interrupt.
std::span<const StackFrame> without_tracepoint(std::span<const StackFrame> frames, bool interrupt);

}  // namespace offcpud
