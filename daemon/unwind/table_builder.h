// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>

#include "unwind/unwind_table.h"

namespace offcpud {

// Puts rows, which come in ascending order, into pages. Leaves out a row that equals the one before
// it.
class TableBuilder {
 public:
  // `most_rows`: upper bound of the rows that will be needed.
  TableBuilder(const UnwindLimits& limits, std::size_t most_rows);

  // `rule` applies from `address` on, up to the next call's address, which must be higher.
  void add(std::uint64_t address, const UnwindRule& rule);
  [[nodiscard]] bool is_full() const { return full_; }  // at the limit of rows or pages

  UnwindTable& table() { return table_; }

 private:
  std::uint16_t index_of(const UnwindRule& rule);
  void fill_pages(std::uint64_t end);
  void push_page(std::uint64_t number);
  void push_row(std::uint16_t address, std::uint16_t rule);

  UnwindLimits limits_;
  UnwindTable table_;
  std::unordered_map<UnwindRule, std::uint16_t, UnwindRuleHash, UnwindRuleEqual> indices_;
  std::uint16_t current_ = OFFCPUD_UNWIND_RULE_NO_FDE;
  std::uint64_t next_page_ = 0;  // the first one that is not in the table yet
  bool full_ = false;
};

}  // namespace offcpud
