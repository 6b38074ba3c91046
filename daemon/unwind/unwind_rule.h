// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstring>

#include "unwind.h"
#include "unwind/eh_frame.h"
#include "unwind/frame_state.h"

namespace offcpud {

using UnwindRule = offcpud_unwind_rule;

// The rule that does what `state` says, with kind INVALID where none of bpf/unwind.h does.
UnwindRule rule_of(const Cie& cie, const FrameState& state);

inline UnwindRule plain_rule(offcpud_unwind_kind kind) {
  return {.kind = static_cast<__u8>(kind)};
}

struct UnwindRuleHash {
  std::size_t operator()(const UnwindRule& rule) const {
    std::uint64_t words[2];
    static_assert(sizeof words == sizeof rule);
    std::memcpy(words, &rule, sizeof words);
    // Multipliers of SplitMix64: offsets differ in a few low bits.
    return (words[0] * 0xbf58476d1ce4e5b9U ^ (words[1] + 0x9e3779b97f4a7c15U)) *
               0x94d049bb133111ebU >>
           17;
  }
};

struct UnwindRuleEqual {
  bool operator()(const UnwindRule& a, const UnwindRule& b) const {
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
};

}  // namespace offcpud
