// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "base/wait_for.h"
#include "pipeline/interval_histogram.h"
#include "pipeline/view.h"

namespace offcpud {

// Says how long the waits of cgroups usually were. Covers all that ended since counting began,
// except in the minutes of View::history, so that present trouble does not pass for usual.
class UsualLengths {
 public:
  static constexpr std::chrono::minutes kLeastTime{5};
  static constexpr std::uint64_t kLeastWaits = 100;  // fewer have no 99th percentile

  // `cgroups`: those that it will be asked about. The View must outlive the object.
  UsualLengths(const View& view, const std::set<std::string_view>& cgroups);

  // {"since", "ended", "p99_seconds"}; null: too little is known.
  [[nodiscard]] nlohmann::ordered_json of(std::string_view cgroup, WaitFor wait_for) const;
  // The same of waits in a run queue; `kind` is of enum offcpud_hist_kind.
  [[nodiscard]] nlohmann::ordered_json of_run_queue(std::string_view cgroup,
                                                    std::size_t kind) const;

 private:
  // A cgroup, and a kind: of enum offcpud_hist_kind, or beyond these a WaitFor.
  using Key = std::pair<std::string_view, std::size_t>;

  IntervalHistogram& recent(std::string_view cgroup, std::size_t kind);
  [[nodiscard]] const SubjectSeries* row_of(std::string_view cgroup) const;
  [[nodiscard]] nlohmann::ordered_json json(const Key& key, const LatencyHistogram* all,
                                            WallTime since) const;

  const View& view_;
  WallTime until_;  // when the first step of the history begins
  std::map<Key, std::unique_ptr<IntervalHistogram>> recent_;
};

}  // namespace offcpud
