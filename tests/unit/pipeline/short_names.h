// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "attribution/subject.h"
#include "base/hist_kind.h"
#include "base/wait_for.h"

namespace offcpud::test {

// Kinds of waits.
inline constexpr auto kSleep = OFFCPUD_BLOCKED_SLEEP;
inline constexpr auto kDisk = OFFCPUD_BLOCKED_DISK;
inline constexpr auto kKernel = OFFCPUD_BLOCKED_KERNEL;
inline constexpr auto kPoll = OFFCPUD_BLOCKED_POLL;
inline constexpr auto kWakeup = OFFCPUD_RUNQ_WAKEUP;
inline constexpr auto kPreempted = OFFCPUD_RUNQ_PREEMPTED;

// What waits are for, as places in arrays.
inline constexpr auto kLock = static_cast<std::size_t>(WaitFor::Lock);
inline constexpr auto kAnswer = static_cast<std::size_t>(WaitFor::Answer);
inline constexpr auto kStorage = static_cast<std::size_t>(WaitFor::Storage);
inline constexpr auto kWork = static_cast<std::size_t>(WaitFor::Work);
inline constexpr auto kUnknown = static_cast<std::size_t>(WaitFor::Unknown);

inline std::shared_ptr<const SubjectLabels> labels(std::string_view cgroup) {
  return std::make_shared<const SubjectLabels>(labels_of_cgroup(cgroup));
}

}  // namespace offcpud::test
