// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "pipeline/interval_histogram.h"
#include "pipeline/view.h"
#include "pipeline/wait_history.h"

namespace offcpud {

// The waits of one kind in an interval, and those in progress now.
struct KindWaits {
  std::uint64_t waited_ns = 0;               // within the interval, of waits ended or in progress
  std::unique_ptr<IntervalHistogram> ended;  // null: none
  std::uint32_t threads = 0;                 // waiting now, but not for work
  std::uint64_t oldest_ns = 0;               // age of the oldest of them
};

// How one or several units spent an interval.
struct UnitWaits {
  std::shared_ptr<const SubjectLabels> labels;  // null if several
  std::uint64_t running_ns = 0;
  std::array<KindWaits, OFFCPUD_HIST_KINDS> kinds;
  bool has_kernel_workers = false;  // its `kernel` waits are mostly for work, and count as idle

  [[nodiscard]] bool counts(std::size_t kind) const;  // whether waits of this kind are actionable
  [[nodiscard]] std::uint64_t actionable_ns() const;
  [[nodiscard]] std::uint64_t idle_ns() const;
  [[nodiscard]] std::uint64_t runqueue_ns() const;  // waits for a CPU, whatever their cause

  // Adds `other` without its `kernel` waits for work.
  void add(const UnitWaits& other);
};

// Sums by cgroup. The keys point into the View and its history.
class UnitSums {
 public:
  // `view` must outlive the object.
  explicit UnitSums(const View& view);

  // Adds the cgroups of a history step that `admits` accepts.
  template <class Admits>
  void add(const WaitStep& step, Admits admits) {
    add_to(step, [&](const WaitStep::Subject& subject) {
      return admits(subject.labels->cgroup) ? &unit_of(subject.labels) : nullptr;
    });
  }

  // Returns what total() would return for this step alone. Faster, because it does not sum unit by
  // unit: a history has many steps.
  template <class Admits>
  [[nodiscard]] UnitWaits total_of(const WaitStep& step, Admits admits) const {
    UnitWaits sum, of_workers;
    of_workers.has_kernel_workers = true;
    add_to(step, [&](const WaitStep::Subject& subject) -> UnitWaits* {
      const std::string& cgroup = subject.labels->cgroup;
      if (!admits(cgroup)) return nullptr;
      return with_kernel_workers_.contains(cgroup) ? &of_workers : &sum;
    });
    sum.add(of_workers);
    return sum;
  }

  // Adds the View's waits in progress of cgroups that `admits` accepts.
  template <class Admits>
  void add_in_progress(Admits admits) {
    for (const SubjectSeries& row : view_.subjects) {
      if (row.in_progress && admits(row.labels->cgroup)) add_in_progress(row);
    }
  }

  [[nodiscard]] const std::map<std::string_view, UnitWaits>& units() const { return units_; }
  [[nodiscard]] UnitWaits total() const;

 private:
  // Adds each subject to the unit that `unit_of` returns; null: skips the subject.
  template <class UnitOf>
  static void add_to(const WaitStep& step, UnitOf unit_of) {
    UnitWaits* unit = nullptr;
    KindWaits* waits = nullptr;
    step.for_each(
        [&](const WaitStep::Subject& subject) {
          unit = unit_of(subject);
          if (unit) unit->running_ns += subject.running_ns;
        },
        [&](const WaitStep::Wait& wait) {
          waits = unit ? &unit->kinds[wait.kind] : nullptr;
          if (!waits) return;
          waits->waited_ns += wait.waited_ns;
          if (wait.cells > 0 && !waits->ended) waits->ended = std::make_unique<IntervalHistogram>();
        },
        [&](std::size_t slot, std::uint64_t count) {
          if (waits) waits->ended->add(slot, count);
        });
  }

  UnitWaits& unit_of(const std::shared_ptr<const SubjectLabels>& labels);
  void add_in_progress(const SubjectSeries& row);

  const View& view_;
  std::set<std::string_view> with_kernel_workers_;
  std::map<std::string_view, UnitWaits> units_;
};

}  // namespace offcpud
