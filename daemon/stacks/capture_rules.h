// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "stacks/block_filter.h"

namespace offcpud {

// What goes into snapshots. Immutable; shared by threads, but for `keeps_cgroup`.
struct CaptureRules {
  BlockFilter blocks;
  // Called by the thread that makes snapshots. Empty: every cgroup is kept.
  std::function<bool(std::string_view path)> keeps_cgroup;
  std::string text;  // for people; empty: everything
};

}  // namespace offcpud
