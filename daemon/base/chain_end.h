// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace offcpud {

// How a piece of a wait ends: what the last one in the chain of those who were waited for did.
enum class ChainEnd : std::uint8_t {
  Runs,     // it ran or waited for a CPU: it has no block in the sample then
  Waits,    // it waited as the last step says, which is as far as one sees
  Idle,     // the last step is a wait for work, so it did nothing for who waits
  Unknown,  // nobody can tell
};

}  // namespace offcpud
