// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "unwind/unwind_rule.h"

namespace offcpud {

// The rules of all tables, once each: 5,000 for the 2,400 files of a developer's host. Counts the
// users of each rule, so that files with made-up rules cannot fill it for ever.
class RuleDictionary {
 public:
  explicit RuleDictionary(std::uint32_t capacity = OFFCPUD_UNWIND_MAX_RULES);

  struct Entry {
    std::uint16_t index = 0;
    bool is_new = false;  // not yet in the kernel's dictionary
  };
  // nullopt: it is full. Each successful take() needs a give_back().
  std::optional<Entry> take(const UnwindRule& rule);
  void give_back(std::uint16_t index);

  // The rule of an index returned by take().
  [[nodiscard]] const UnwindRule& rule(std::uint16_t index) const { return slots_[index].rule; }

  [[nodiscard]] std::size_t size() const { return indices_.size(); }

 private:
  struct Slot {
    UnwindRule rule{};
    std::uint32_t users = 0;
  };
  std::uint32_t capacity_;
  std::vector<Slot> slots_;
  std::vector<std::uint16_t> free_;
  std::unordered_map<UnwindRule, std::uint16_t, UnwindRuleHash, UnwindRuleEqual> indices_;
};

}  // namespace offcpud
