// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/wait_age.h"
#include "offcpud.h"
#include "pipeline/reading_source.h"

namespace offcpud {

// Age of the state that a record shows, in nanoseconds; 0 if its beginning is unknown.
std::uint64_t age_ns(const offcpud_thread& thread);

// How long the thread has been blocked or, if it is not blocked, how long it has run or waited for
// a CPU without a block. 0 ns: unknown.
WaitAge age_of_deed(const offcpud_thread& thread);

// By tid of the initial PID namespace. Null: the walk does not have it, or tid is 0.
const offcpud_thread* find_thread(const ThreadWalk& walk, std::uint32_t tid);

}  // namespace offcpud
