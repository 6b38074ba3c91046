// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "stacks/block_filter.h"

namespace offcpud {

// What goes into snapshots. Immutable; shared by the threads that make them.
struct CaptureRules {
  BlockFilter blocks;
  std::function<bool(std::string_view path)> keeps_cgroup;  // empty: every one
  std::string text;                                         // for people; empty: everything
};

}  // namespace offcpud
