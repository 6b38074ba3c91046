// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/wait_for.h"
#include "sites/frame_pattern.h"
#include "sites/stack_pattern.h"

namespace offcpud {

// The evidence that a rule may ask for, about a wait that names leave open.
enum class SiteQuestion : std::uint8_t {
  None,
  Socket,  // of the one socket it waits on: accepted or connected, and who sent last?
  Fds,     // of the descriptors that it polls: the same
  Pipe,    // what does the other end do?
  Child,   // what does the child wait for?
  Waker,   // who wakes it: its own timer, who waits at the same place, or whom it wakes?
  // The same, at places where idle threads do not pass jobs on to each other: a thread that waits
  // there at times, and wakes another one, gives it what it held.
  Handover,
  Timer,  // does its own timer end it? What else wakes it says nothing.
};
inline constexpr std::array<std::string_view, 8> kSiteQuestionNames = {
    "none", "socket", "fds", "pipe", "child", "waker", "handover", "timer"};

constexpr std::string_view name_of(SiteQuestion question) {
  return kSiteQuestionNames[static_cast<std::size_t>(question)];
}

// How near to the program a file's rules are. Rules are tried level by level.
enum class SiteLevel : std::uint8_t {
  Kernel,    // functions of the kernel that leave no doubt, whatever the program
  Program,   // one program
  Library,   // libraries that programs call: clients of databases, event loops
  Runtime,   // runtimes of languages, which are below whatever is written in them
  Libc,      // mutexes, conditions, threads of the C and C++ libraries
  Fallback,  // what is left: by the kind of object that is waited on
};
inline constexpr std::array<std::string_view, 6> kSiteLevelNames = {
    "kernel", "program", "library", "runtime", "libc", "fallback"};

constexpr std::string_view name_of(SiteLevel level) {
  return kSiteLevelNames[static_cast<std::size_t>(level)];
}

// A rule as a file has it.
struct SiteRule {
  std::string name;  // of the site; several rules may have it
  WaitFor wait_for = WaitFor::Unknown;
  SiteQuestion ask = SiteQuestion::None;

  // Conditions; all that are given must hold.
  FramePattern exe;
  std::uint32_t reasons = 0;  // bits by enum offcpud_hist_kind; 0: any
  // Why the goroutine waits. A rule with it takes goroutines only, one without it threads only.
  FramePattern goroutine;
  StackPattern match;        // functions of the program
  StackPattern interpreted;  // functions that an interpreter runs for it
  StackPattern kernel;       // functions of the kernel

  [[nodiscard]] bool is_for_goroutines() const { return !goroutine.alternatives.empty(); }

  std::string tested;  // programs and versions, for people
  SiteLevel level = SiteLevel::Program;
  std::size_t folder = 0;  // whose rules: 0 come first
  std::string file;
  std::size_t line = 0;  // 1-based

  // "FILE:LINE"
  [[nodiscard]] std::string place() const { return file + ":" + std::to_string(line); }
};

}  // namespace offcpud
