// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "pipeline/view.h"

namespace offcpud {

// A mean of rates that forgets what is old. A value type.
class FadingRate {
 public:
  explicit FadingRate(std::chrono::duration<double> half_life) : half_life_(half_life) {}

  // Adds an amount that came within the last `within`.
  void add(double amount, std::chrono::duration<double> within);
  // Per second; 0 before the first add().
  [[nodiscard]] double per_second() const { return weight_ > 0 ? sum_ / weight_ : 0; }

 private:
  std::chrono::duration<double> half_life_;
  double sum_ = 0, weight_ = 0;
};

// How busy cgroups are: the time in which their threads ran or wanted to run, per second. Used by
// one thread.
class UnitActivity {
 public:
  // The half-lives of Busy::now and of Busy::usual.
  static constexpr std::chrono::seconds kNow{4}, kUsual{300};
  // A cgroup counts as unknown until it has been seen for this long.
  static constexpr std::chrono::seconds kYoung{60};

  // Call it once a pass, with rows sorted by cgroup.
  void update(std::span<const SubjectSeries> subjects, MonotonicTime now);

  // In CPUs. nullopt: the cgroup is not known, or not for long enough.
  struct Busy {
    double now = 0, usual = 0;
  };
  [[nodiscard]] std::optional<Busy> of(std::string_view cgroup) const;

 private:
  struct Row {
    std::shared_ptr<const SubjectLabels> labels;
    std::uint64_t busy_ns = 0;  // since the start
    MonotonicTime since;
    FadingRate now{kNow}, usual{kUsual};
  };

  std::vector<Row> rows_;  // by cgroup
  MonotonicTime updated_;
};

}  // namespace offcpud
