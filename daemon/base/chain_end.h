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

// Set if a thread of a chain was busy with other requests: all that comes after this many steps was
// done for those. nullopt: no thread is known to have been.
using BusyAfter = std::optional<std::size_t>;

}  // namespace offcpud
