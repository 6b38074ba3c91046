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
constexpr auto kSleep = OFFCPUD_BLOCKED_SLEEP;
constexpr auto kDisk = OFFCPUD_BLOCKED_DISK;
constexpr auto kKernel = OFFCPUD_BLOCKED_KERNEL;
constexpr auto kPoll = OFFCPUD_BLOCKED_POLL;
constexpr auto kWakeup = OFFCPUD_RUNQ_WAKEUP;
constexpr auto kPreempted = OFFCPUD_RUNQ_PREEMPTED;

// What waits are for, as places in arrays.
constexpr auto kLock = static_cast<std::size_t>(WaitFor::Lock);
constexpr auto kAnswer = static_cast<std::size_t>(WaitFor::Answer);
constexpr auto kStorage = static_cast<std::size_t>(WaitFor::Storage);
constexpr auto kWork = static_cast<std::size_t>(WaitFor::Work);
constexpr auto kUnknown = static_cast<std::size_t>(WaitFor::Unknown);

inline std::shared_ptr<const SubjectLabels> labels(std::string_view cgroup) {
  return std::make_shared<const SubjectLabels>(labels_of_cgroup(cgroup));
}

}  // namespace offcpud::test
