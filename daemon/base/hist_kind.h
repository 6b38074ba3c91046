// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "offcpud.h"

namespace offcpud {

// Values of the labels `reason` (blocked kinds) and `cause` (run-queue kinds), by enum
// offcpud_hist_kind.
inline constexpr std::array<std::string_view, OFFCPUD_HIST_KINDS> kHistKindNames = {
    "disk",  "lock",   "condvar", "network", "pipe",   "poll",      "sleep",
    "child", "kernel", "stopped", "other",   "wakeup", "preempted", "throttled"};
static_assert(kHistKindNames[OFFCPUD_BLOCKED_DISK] == "disk");
static_assert(kHistKindNames[OFFCPUD_BLOCKED_OTHER] == "other");
static_assert(kHistKindNames[OFFCPUD_RUNQ_WAKEUP] == "wakeup");
static_assert(kHistKindNames[OFFCPUD_HIST_KINDS - 1] == "throttled");

constexpr bool is_blocked_kind(std::size_t kind) {
  return kind < OFFCPUD_BLOCKED_KINDS;
}

// Reasons in which an idle service blocks by design (docs/semantics.md, "Reasons").
constexpr bool is_idle_prone(std::size_t kind) {
  return kind == OFFCPUD_BLOCKED_POLL || kind == OFFCPUD_BLOCKED_SLEEP ||
         kind == OFFCPUD_BLOCKED_CHILD || kind == OFFCPUD_BLOCKED_CONDVAR;
}

// True for waits that delay somebody: in a run queue, or blocked for a reason that is not
// idle-prone.
constexpr bool is_actionable(std::size_t kind) {
  return !is_blocked_kind(kind) || !is_idle_prone(kind);
}

// Values of the labels `by` and `from`, by enum offcpud_taker and enum offcpud_waker.
inline constexpr std::array<std::string_view, OFFCPUD_TAKERS> kTakerNames = {
    "same_cgroup", "other_cgroup", "kernel"};
inline constexpr std::array<std::string_view, OFFCPUD_WAKERS> kWakerNames = {
    "same_cgroup", "other_cgroup", "kernel", "interrupt"};

}  // namespace offcpud
