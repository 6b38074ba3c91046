// SPDX-License-Identifier: Apache-2.0
// Parts of top_json.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "api/top_query.h"
#include "pipeline/view.h"

namespace offcpud {

using TopJson = nlohmann::ordered_json;

constexpr double in_seconds(std::uint64_t nanoseconds) {
  return static_cast<double>(nanoseconds) * 1e-9;
}

// {"name": seconds} without names whose value is 0.
inline TopJson seconds_by_name(std::span<const std::uint64_t> nanoseconds,
                               std::span<const std::string_view> names) {
  TopJson by_name = TopJson::object();
  for (std::size_t i = 0; i < nanoseconds.size(); ++i) {
    if (nanoseconds[i] != 0) by_name[std::string(names[i])] = in_seconds(nanoseconds[i]);
  }
  return by_name;
}

// Sorts by `before` or, if the query says so, in reverse, and truncates to the limit. Stable.
template <class Row, class Before>
void sort_and_truncate(std::vector<Row>& rows, const TopQuery& query, Before before) {
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    return query.reverse ? before(b, a) : before(a, b);
  });
  if (query.limit && rows.size() > *query.limit) {
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(*query.limit), rows.end());
  }
}

// The rows of a list, and how many there would be without the limit.
struct TopList {
  TopJson rows = TopJson::array();
  std::size_t matching = 0;  // rows that match, before the limit
};

TopList top_threads(const View& view, const TopQuery& query);

}  // namespace offcpud
