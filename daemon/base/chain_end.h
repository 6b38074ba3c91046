// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace offcpud {

// How a chain of waits ends: what the last thread in it did, on which all the others waited.
enum class ChainEnd : std::uint8_t {
  Runs,     // it ran or waited for a CPU: no sampled block of it covers that time
  OnCpu,    // it ran, by its own account
  Queued,   // it waited for a CPU, by its own account
  Waits,    // it waited as the last step says; nobody can see further
  Idle,     // the last step is a wait for work: it did nothing for those who waited
  Unknown,  // nobody can tell
};

// How many steps of a chain come before a thread that was busy with other requests: what follows it
// did for these. None: no thread was, as far as is known.
using BusyAfter = std::optional<std::size_t>;

}  // namespace offcpud
