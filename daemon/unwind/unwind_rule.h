// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstring>

#include "elf/eh_frame.h"
#include "unwind.h"
#include "unwind/frame_state.h"

namespace offcpud {

using UnwindRule = offcpud_unwind_rule;

// The rule equivalent to `state`; of kind INVALID if bpf/unwind.h has none.
UnwindRule rule_of(const Cie& cie, const FrameState& state);

inline UnwindRule plain_rule(offcpud_unwind_kind kind) {
  return {.kind = static_cast<__u8>(kind)};
}

// With a secret, because files choose the rules and could otherwise choose thousands with one hash.
struct UnwindRuleHash {
  std::size_t operator()(const UnwindRule& rule) const {
    std::uint64_t words[2];
    static_assert(sizeof words == sizeof rule);
    std::memcpy(words, &rule, sizeof words);
    return mix(mix(words[0] ^ secret()) ^ words[1]);
  }

 private:
  // The finalizer of SplitMix64, because offsets differ in a few low bits only.
  static std::uint64_t mix(std::uint64_t word) {
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9U;
    word = (word ^ word >> 27) * 0x94d049bb133111ebU;
    return word ^ word >> 31;
  }
  static std::uint64_t secret();
};

struct UnwindRuleEqual {
  bool operator()(const UnwindRule& a, const UnwindRule& b) const {
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
};

}  // namespace offcpud
