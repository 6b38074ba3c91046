// SPDX-License-Identifier: Apache-2.0
// Parts of top_table.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "ctl/terminal_text.h"
#include "ctl/top_answer.h"

namespace offcpud {

inline constexpr double kNobody = 0.05;  // fewer threads on average are not worth a word

struct TopColumn {
  std::string title;
  std::size_t width = 0;  // the last column takes the rest of the line, at least this
  Align align = Align::Right;
  unsigned rank = 0;  // if not all fit, the one with the highest rank is left out first
  std::function<std::string(const TopRow& row)> cell;
};

// Time as a share of the interval: "12.5" percent. "-" for zero, or without an interval.
std::string percent_cell(double seconds, std::optional<double> interval);

double total_of(const SecondsByName& seconds);

// The columns by reason, in the order of the screen: always the same ones.
std::vector<TopColumn> process_columns(const TopAnswer& answer);
std::vector<TopColumn> thread_columns(const TopAnswer& answer);

// The columns by what waits are for, of an answer that knows it.
std::vector<TopColumn> process_columns_by_for(const TopAnswer& answer);
std::vector<TopColumn> thread_columns_by_for(const TopAnswer& answer);

}  // namespace offcpud
