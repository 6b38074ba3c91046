// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "ctl/top_answer.h"

namespace offcpud {

inline constexpr std::size_t kAnyWidth = std::numeric_limits<std::size_t>::max();

// An answer as lines that fit the width of a terminal and hold no characters that it would obey.
// Columns that do not fit, or have no values, are left out.
struct TopTable {
  std::vector<std::string> summary;  // about the host
  std::string titles;
  std::vector<std::string> rows;
  std::string note;  // at which width all columns fit; empty: they do
};

// Columns go by what waits are for, if the answer has that and `by_reason` is false.
TopTable top_table(const TopAnswer& answer, const std::string& server, std::size_t width,
                   bool by_reason = false);

// All lines, each with a line feed, as `--once` prints them.
std::string top_text(const TopTable& table);

}  // namespace offcpud
