// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <chrono>
#include <cstddef>
#include <string>

#include "attribution/cgroup_filter.h"
#include "base/clock.h"
#include "changes/change_kind.h"

namespace offcpud {

// Which two ranges are compared, and which waits within them.
struct ChangesScope {
  struct Range {
    WallTime from, to;
  };

  Range range, base;       // base: the earlier one
  bool by_default = true;  // no time was asked for, so what is kept decides
  CgroupFilter cgroup;
  std::bitset<kChangeKinds> kinds = ~std::bitset<kChangeKinds>();
  std::string site;        // complete name; empty: all
  bool idle = false;       // also waits for work, timers and children of one's own
  std::size_t limit = 20;  // rows of the answer
  // The answer is for people: it names options of offcpuctl. False: parameters of a request.
  bool as_text = false;

  static constexpr std::chrono::minutes kRange{10};
  static constexpr std::chrono::minutes kBase{60};
};

}  // namespace offcpud
