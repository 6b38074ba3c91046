// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace offcpud {

// What a blocked thread waits for: values of the label `for`. The reason (base/hist_kind.h) says by
// which system call it left the CPU; this says whether anybody suffers.
enum class WaitFor : std::uint8_t {
  Lock,     // something that somebody holds
  Answer,   // a reply that it asked for
  Storage,  // a disk, the page cache, a journal, a network file system
  Memory,   // reclaim, compaction, a memory limit
  Stopped,  // nothing: it is stopped, traced or frozen
  Work,     // something to do
  Timer,    // the end of the time that it asked to sleep
  Unknown,  // nobody can tell
};

// The one place where they are spelled.
inline constexpr std::array<std::string_view, 8> kWaitForNames = {
    "lock", "answer", "storage", "memory", "stopped", "work", "timer", "unknown"};

constexpr std::string_view name_of(WaitFor wait_for) {
  return kWaitForNames[static_cast<std::size_t>(wait_for)];
}
static_assert(name_of(WaitFor::Unknown) == "unknown");

// nullopt: none has that name.
inline std::optional<WaitFor> wait_for_named(std::string_view name) {
  const auto* const found = std::ranges::find(kWaitForNames, name);
  if (found == kWaitForNames.end()) return std::nullopt;
  return static_cast<WaitFor>(found - kWaitForNames.begin());
}

// Whether nobody suffers from a wait for this.
constexpr bool is_idle(WaitFor wait_for) {
  return wait_for == WaitFor::Work || wait_for == WaitFor::Timer;
}

// "lock,answer,storage,memory,stopped,unknown": all that is not idle, as queries name it.
inline std::string names_of_not_idle() {
  std::string names;
  for (std::size_t i = 0; i < kWaitForNames.size(); ++i) {
    if (is_idle(static_cast<WaitFor>(i))) continue;
    names.append(names.empty() ? "" : ",").append(kWaitForNames[i]);
  }
  return names;
}

// Whether somebody may want to do something about a wait for this.
constexpr bool actionable(WaitFor wait_for) {
  return !is_idle(wait_for) && wait_for != WaitFor::Unknown;
}

}  // namespace offcpud
