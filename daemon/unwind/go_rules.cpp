// SPDX-License-Identifier: Apache-2.0
#include "unwind/go_rules.h"

#include <optional>
#include <string_view>

namespace offcpud {
namespace {

constexpr std::int32_t kWord = 8;
constexpr std::int32_t kMostDepth = 1 << 30;  // no stack is larger (runtime.maxstacksize)

// For a frame that keeps its frame pointer where every C function does.
UnwindRule by_frame_pointer() {
  return {.kind = OFFCPUD_UNWIND_RBP,
          .rbp = OFFCPUD_UNWIND_RBP_AT_CFA,
          .reserved = 0,
          .cfa_offset = 2 * kWord,
          .addend = 0,
          .rbp_offset = -2 * kWord};
}

UnwindRule by_depth(std::int32_t depth) {
  // A negative depth means that the return address was popped, as around a vfork; then the frame
  // pointer is the caller's.
  if (depth < 0) return by_frame_pointer();
  if (depth > kMostDepth) return plain_rule(OFFCPUD_UNWIND_INVALID);
  UnwindRule rule = plain_rule(OFFCPUD_UNWIND_RSP);
  rule.cfa_offset = depth + kWord;
  if (depth >= kWord) {
    rule.rbp = OFFCPUD_UNWIND_RBP_AT_CFA;
    rule.rbp_offset = -2 * kWord;
  }
  return rule;
}

// Functions not described by a depth: src/runtime/asm_amd64.s and sys_linux_amd64.s.
std::optional<UnwindRule> rule_by_name(std::string_view name) {
  constexpr std::string_view kRuntime = "runtime.";
  if (!name.starts_with(kRuntime)) return std::nullopt;
  name.remove_prefix(kRuntime.size());
  // Here goroutines and threads begin, or the work of a thread that left a goroutine. Below there
  // is nothing, a remainder of another stack, or C code for which Go's linker made no table.
  for (const std::string_view root : {"goexit", "mcall", "morestack", "mstart", "rt0_go"}) {
    if (name == root) return plain_rule(OFFCPUD_UNWIND_END);
  }
  // They continue on another stack, while rbp still leads to the one that they left.
  if (name == "systemstack" || name == "asmcgocall") return by_frame_pointer();
  if (name.starts_with("sigreturn")) return plain_rule(OFFCPUD_UNWIND_SIGNAL);
  return std::nullopt;
}

}  // namespace

void add_go_function(const GoFunctionTable& table, const GoFunction& function, std::uint64_t end,
                     WorkBudget& budget, TableBuilder& builder) {
  if (const auto rule = rule_by_name(function.name)) return builder.add(function.begin, *rule);
  GoStackDepths depths(table, function);
  std::uint64_t known = function.begin;
  while (known < end && function.depth != 0 && budget.spend() && depths.next()) {
    builder.add(known, by_depth(depths.depth()));
    known = depths.end();
  }
  if (known < end) builder.add(known, plain_rule(OFFCPUD_UNWIND_NO_FDE));
}

}  // namespace offcpud
