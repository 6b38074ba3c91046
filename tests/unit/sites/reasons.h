// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "offcpud.h"

namespace offcpud::test {

// Reasons of blocked time.
constexpr std::size_t kLock = OFFCPUD_BLOCKED_LOCK;
constexpr std::size_t kCondvar = OFFCPUD_BLOCKED_CONDVAR;
constexpr std::size_t kPolls = OFFCPUD_BLOCKED_POLL;
constexpr std::size_t kNetwork = OFFCPUD_BLOCKED_NETWORK;
constexpr std::size_t kDisk = OFFCPUD_BLOCKED_DISK;

}  // namespace offcpud::test
