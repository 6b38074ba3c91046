// SPDX-License-Identifier: Apache-2.0
#include "unwind/table_builder.h"

#include <algorithm>

namespace offcpud {
namespace {

constexpr std::uint64_t kPageMask = (std::uint64_t{1} << OFFCPUD_UNWIND_PAGE_SHIFT) - 1;

}  // namespace

TableBuilder::TableBuilder(const UnwindLimits& limits, std::size_t most_rows) : limits_(limits) {
  limits_.rules = std::min<std::uint32_t>(limits_.rules, OFFCPUD_UNWIND_MAX_RULES);
  // A growing vector briefly exists twice; of a reserved one only the used part takes memory.
  table_.rows.reserve(std::min<std::size_t>(limits_.rows, most_rows));
  for (const auto kind : {OFFCPUD_UNWIND_INVALID, OFFCPUD_UNWIND_NO_FDE}) {
    indices_.emplace(plain_rule(kind), static_cast<std::uint16_t>(table_.rules.size()));
    table_.rules.push_back(plain_rule(kind));
  }
  static_assert(OFFCPUD_UNWIND_RULE_INVALID == 0 && OFFCPUD_UNWIND_RULE_NO_FDE == 1);
}

void TableBuilder::add(std::uint64_t address, const UnwindRule& rule) {
  if (full_) return;
  const std::uint16_t index = index_of(rule);
  if (rule.kind == OFFCPUD_UNWIND_INVALID) table_.invalid_rows++;
  if (index == current_) return;

  const std::uint64_t page = address >> OFFCPUD_UNWIND_PAGE_SHIFT;
  const auto low = static_cast<std::uint16_t>(address & kPageMask);
  fill_pages(page);
  if (page >= next_page_) {
    const bool is_empty_page = low == 0 && index == OFFCPUD_UNWIND_RULE_NO_FDE;
    if (!is_empty_page) {
      push_page(page);
      if (low != 0) push_row(0, current_);
      push_row(low, index);
    }
  } else {
    push_row(low, index);
  }
  current_ = index;
}

// Adds the pages before `end` that the current rule covers entirely.
void TableBuilder::fill_pages(std::uint64_t end) {
  if (current_ == OFFCPUD_UNWIND_RULE_NO_FDE) return;
  for (; next_page_ < end && !full_;) {
    push_page(next_page_);
    push_row(0, current_);
  }
}

void TableBuilder::push_page(std::uint64_t number) {
  if (table_.pages.size() >= limits_.pages || number > UINT32_MAX) {
    full_ = true;
    return;
  }
  table_.pages.push_back({.number = static_cast<std::uint32_t>(number),
                          .first = static_cast<std::uint32_t>(table_.rows.size()),
                          .count = 0});
  next_page_ = number + 1;
}

void TableBuilder::push_row(std::uint16_t address, std::uint16_t rule) {
  if (full_ || table_.rows.size() >= limits_.rows) {
    full_ = true;
    return;
  }
  table_.rows.push_back({.address = address, .rule = rule});
  table_.pages.back().count++;
}

std::uint16_t TableBuilder::index_of(const UnwindRule& rule) {
  if (const auto known = indices_.find(rule); known != indices_.end()) return known->second;
  if (table_.rules.size() >= limits_.rules) {
    table_.rules_truncated = true;
    return OFFCPUD_UNWIND_RULE_INVALID;
  }
  const auto index = static_cast<std::uint16_t>(table_.rules.size());
  table_.rules.push_back(rule);
  indices_.emplace(rule, index);
  return index;
}

}  // namespace offcpud
