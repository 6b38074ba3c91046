// SPDX-License-Identifier: Apache-2.0
#include "unwind/rule_dictionary.h"

namespace offcpud {

RuleDictionary::RuleDictionary(std::uint32_t capacity) : capacity_(capacity) {
  static_assert(OFFCPUD_UNWIND_RULE_INVALID == 0 && OFFCPUD_UNWIND_RULE_NO_FDE == 1);
  (void)take(plain_rule(OFFCPUD_UNWIND_INVALID));  // these two are never returned
  (void)take(plain_rule(OFFCPUD_UNWIND_NO_FDE));
}

std::optional<RuleDictionary::Entry> RuleDictionary::take(const UnwindRule& rule) {
  if (const auto known = indices_.find(rule); known != indices_.end()) {
    slots_[known->second].users++;
    return Entry{known->second, false};
  }
  std::uint16_t index = 0;
  if (!free_.empty()) {
    index = free_.back();
    free_.pop_back();
  } else if (slots_.size() < capacity_) {
    index = static_cast<std::uint16_t>(slots_.size());
    slots_.emplace_back();
  } else {
    return std::nullopt;
  }
  slots_[index] = {.rule = rule, .users = 1};
  indices_.emplace(rule, index);
  return Entry{index, true};
}

void RuleDictionary::give_back(std::uint16_t index) {
  Slot& slot = slots_[index];
  if (--slot.users > 0) return;
  indices_.erase(slot.rule);
  free_.push_back(index);
}

}  // namespace offcpud
