// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "stacks/block_filter.h"

namespace offcpud {

// Selects what snapshots contain. Immutable and shared by threads, but only one calls
// `keeps_cgroup`.
struct CaptureRules {
  BlockFilter blocks;
  // Called by the thread that makes snapshots. Empty: all cgroups are kept.
  std::function<bool(std::string_view path)> keeps_cgroup;
  std::string text;  // for people; empty: everything
};

}  // namespace offcpud
