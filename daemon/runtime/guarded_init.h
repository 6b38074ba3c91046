// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>

namespace offcpud {

// Process 1 of a host that guards it: BPF programs do not run while one of its threads is current,
// so they miss its switches, and wakeups that happen meanwhile (docs/kernel-support.md, "Losses to
// expect"). Single-threaded.
class GuardedInit {
 public:
  // Looks whether this host guards its process 1. nullopt: it does not, or this thread cannot know,
  // because it lacks CAP_SYS_PTRACE. Call it before switches are counted.
  static std::optional<GuardedInit> find();

  // Counts switches from now on. `proc`: "/proc", or a directory like it.
  explicit GuardedInit(std::filesystem::path proc);

  // How many of the `missed` switches and wakeups, counted since then, the guard explains: up to
  // two for each switch of process 1. The result may be too small: how often a thread switched
  // between the last reading and its end is not known.
  std::uint64_t explained(std::uint64_t missed);

 private:
  [[nodiscard]] std::uint64_t most() const;
  void read_switches();

  std::filesystem::path proc_;
  std::map<std::filesystem::path, std::uint64_t> threads_;  // switches of each that lives
  std::uint64_t switches_ = 0;                              // since the construction
};

}  // namespace offcpud
