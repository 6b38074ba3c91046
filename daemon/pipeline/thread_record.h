// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "base/text.h"
#include "offcpud.h"
#include "pipeline/sample_source.h"

namespace offcpud {

// How long the state that a record shows has lasted, in nanoseconds; 0 where its beginning is not
// known.
std::uint64_t age_ns(const offcpud_thread& thread);

// By tid of the initial PID namespace; null if the walk did not meet it, and for 0.
const offcpud_thread* find_thread(const ThreadWalk& walk, std::uint32_t tid);

// A name as the kernel keeps it: bytes, ended by NUL if there is room for one.
inline std::string comm_text(const char (&comm)[OFFCPUD_COMM]) {
  return to_valid_utf8({comm, ::strnlen(comm, OFFCPUD_COMM)});
}

}  // namespace offcpud
