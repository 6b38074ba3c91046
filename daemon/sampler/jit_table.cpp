// SPDX-License-Identifier: Apache-2.0
#include "sampler/jit_table.h"

#include <utility>

#include "unwind/table_builder.h"

namespace offcpud {
namespace {

// The caller's rbp lies right below the return address.
UnwindRule rule_of_frame(std::uint32_t frame_size) {
  UnwindRule rule = plain_rule(OFFCPUD_UNWIND_RSP);
  rule.rbp = OFFCPUD_UNWIND_RBP_AT_CFA;
  rule.cfa_offset = static_cast<std::int32_t>(frame_size);
  rule.rbp_offset = -16;
  return rule;
}

}  // namespace

UnwindTable unwind_table_of(const JitCode& code, const JitCode::Range& range,
                            const UnwindLimits& limits) {
  TableBuilder builder(limits, 2 * code.functions.size());
  std::uint64_t end = range.begin;
  for (const JitFunction& function : code.functions) {
    if (function.begin < end || function.end > range.end || function.frame_size == 0) continue;
    if (function.begin > end) builder.add(end - range.begin, plain_rule(OFFCPUD_UNWIND_NO_FDE));
    builder.add(function.begin - range.begin, rule_of_frame(function.frame_size));
    end = function.end;
  }
  builder.add(end - range.begin, plain_rule(OFFCPUD_UNWIND_NO_FDE));
  return std::move(builder.table());
}

}  // namespace offcpud
