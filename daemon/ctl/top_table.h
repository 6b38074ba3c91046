// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "cli/top_request.h"
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

// `request`: what was asked for. Columns go by what waits are for, if the answer has that and the
// request does not say `by_reason`.
TopTable top_table(const TopAnswer& answer, const std::string& server, std::size_t width,
                   const TopRequest& request = {});

// What the rows are: "processes", "pinned threads in nginx.service".
std::string shown_rows(const TopRequest& request);

// All lines, each with a line feed, as `--once` prints them.
std::string top_text(const TopTable& table);

}  // namespace offcpud
