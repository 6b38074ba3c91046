// SPDX-License-Identifier: Apache-2.0
#include "api/step_grid.h"

#include <algorithm>

#include "base/utc.h"
#include "pipeline/site_history.h"

namespace offcpud {
namespace {

double ns_of(std::chrono::nanoseconds length) {
  return static_cast<double>(length.count());
}

}  // namespace

StepGrid::StepGrid(const View& view) {
  const MonotonicTime last = view.site_history.empty() ? view.taken : view.site_history.back()->end;
  const WallTime known =
      view.taken_wall - std::chrono::duration_cast<WallTime::duration>(view.taken - last);
  // Too little of the last step is no step yet.
  const auto beyond = known.time_since_epoch() % kStep;
  end_wall_ = known - beyond;
  if (ns_of(beyond) >= kLeastKnown) end_wall_ += kStep;
  end_ = last + (end_wall_ - known);
}

StepGrid::Shares StepGrid::shares_of(MonotonicTime begin, MonotonicTime end) const {
  Shares shares;
  if (end <= begin) return shares;
  for (std::size_t i = 0; i < kCount; ++i) {
    const MonotonicTime step_end = end_ - kStep * static_cast<int>(kCount - 1 - i);
    const auto within = std::min(end, step_end) - std::max(begin, step_end - kStep);
    if (within.count() > 0) shares.emplace_back(i, ns_of(within) / ns_of(end - begin));
  }
  return shares;
}

std::optional<std::size_t> StepGrid::step_of(MonotonicTime time) const {
  if (time > end_) return std::nullopt;
  const auto ago = static_cast<std::size_t>((end_ - time) / kStep);
  return ago < kCount ? std::make_optional(kCount - 1 - ago) : std::nullopt;
}

nlohmann::ordered_json StepGrid::json() const {
  return {{"end", rfc3339(end_wall_)}, {"seconds", kStep.count()}, {"count", kCount}};
}

}  // namespace offcpud
