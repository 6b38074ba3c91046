// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>

namespace offcpud {

// Process 1 of a host that guards it: BPF programs do not run while one of its threads is current,
// so they miss its switches, and wakeups beside them (docs/kernel-support.md, "Losses to expect").
// Single-threaded.
class GuardedInit {
 public:
  // nullopt: this host does not guard its process 1, or this thread cannot know, because it lacks
  // CAP_SYS_PTRACE. Call it before switches are counted.
  static std::optional<GuardedInit> find();

  // For a directory like /proc; counts from now on.
  explicit GuardedInit(std::filesystem::path proc);

  // How many of so many missed switches and wakeups come of the guard: up to two for each switch of
  // process 1. Switches that its ended threads made after the last call are not known, so rather
  // too few.
  std::uint64_t explained(std::uint64_t missed);

 private:
  [[nodiscard]] std::uint64_t most() const;
  void read_switches();

  std::filesystem::path proc_;
  std::map<std::filesystem::path, std::uint64_t> threads_;  // that there are: their switches
  std::uint64_t switches_ = 0;                              // since the construction
};

}  // namespace offcpud
