// SPDX-License-Identifier: Apache-2.0
// Parts of top_json.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "api/for_sums.h"
#include "api/top_query.h"
#include "base/hist_kind.h"
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

inline std::uint64_t runqueue_ns(const std::array<std::uint64_t, OFFCPUD_HIST_KINDS>& waited) {
  return std::accumulate(waited.begin() + OFFCPUD_BLOCKED_KINDS, waited.end(), std::uint64_t{0});
}

inline constexpr std::span kKindNames(kHistKindNames);

// By reason and by cause.
inline TopJson waits_json(const std::array<std::uint64_t, OFFCPUD_HIST_KINDS>& waited) {
  const std::span all(waited);
  return {{"blocked_seconds", seconds_by_name(all.first(OFFCPUD_BLOCKED_KINDS),
                                              kKindNames.first(OFFCPUD_BLOCKED_KINDS))},
          {"runqueue_seconds", seconds_by_name(all.subspan(OFFCPUD_BLOCKED_KINDS),
                                               kKindNames.subspan(OFFCPUD_BLOCKED_KINDS))}};
}

// What the processes of a View, which must outlive the object, waited for in its last window.
class ProcessWaits {
 public:
  explicit ProcessWaits(const View& view);

  // 0: nothing was examined.
  [[nodiscard]] double window_seconds() const { return window_seconds_; }
  [[nodiscard]] const ForSums& of(std::uint32_t pid, std::uint64_t start_ns) const;
  // Of all processes, including ended ones.
  [[nodiscard]] const ForSums& total() const { return total_; }
  // Of the processes that the query selects. Of ended processes, only the waits that it asks for
  // count; those without a known name are selected by cgroup alone.
  [[nodiscard]] ForSums selected(const TopQuery& query) const;

 private:
  double window_seconds_ = 0;
  const View& view_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, ForSums> processes_;
  ForSums total_;
};

// Whether the query selects this process, whose waits are `waits`.
bool is_asked_for(const ProcessRow& process, const ForSums& waits, const TopQuery& query);

// The seconds between the last two walks; nullopt: there is no such interval.
std::optional<double> interval_seconds(const View& view);

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
  // Threads or processes that match, before the limit. Those that have ended do not count.
  std::size_t matching = 0;
};

TopList top_threads(const View& view, const TopQuery& query, const ProcessWaits& waits);
TopList top_processes(const View& view, const TopQuery& query, const ProcessWaits& waits,
                      std::chrono::nanoseconds suspended);

}  // namespace offcpud
