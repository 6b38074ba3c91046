// SPDX-License-Identifier: Apache-2.0
#include "golang/go_layout.h"

#include <algorithm>
#include <array>

namespace offcpud {
namespace {

// Programs of 1.16 to 1.20 and 1.22 to 1.26 were read with it; 1.21 is known from its sources only.
constexpr std::array kLayouts{GoLayout{.first = 16,
                                       .last = 22,
                                       .stack_pointer = 56,
                                       .instruction = 64,
                                       .status = 144,
                                       .id = 152,
                                       .wait_since = 168,
                                       .wait_reason = 176},
                              GoLayout{.first = 23,  // has g.syscallbp
                                       .last = 24,
                                       .stack_pointer = 56,
                                       .instruction = 64,
                                       .status = 152,
                                       .id = 160,
                                       .wait_since = 176,
                                       .wait_reason = 184},
                              GoLayout{.first = 25,  // has no gobuf.ret any more
                                       .last = 26,
                                       .stack_pointer = 56,
                                       .instruction = 64,
                                       .status = 144,
                                       .id = 152,
                                       .wait_since = 168,
                                       .wait_reason = 176}};

}  // namespace

const GoLayout* find_go_layout(std::uint32_t minor) {
  const auto* const found = std::ranges::find_if(kLayouts, [minor](const GoLayout& layout) {
    return layout.first <= minor && minor <= layout.last;
  });
  return found == kLayouts.end() ? nullptr : found;
}

}  // namespace offcpud
