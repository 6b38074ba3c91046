// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "attribution/subject.h"
#include "base/clock.h"
#include "pipeline/interval_histogram.h"
#include "pipeline/view.h"

namespace offcpud {

// How the cgroups spent the time between two passes, packed: most slots of most histograms stay as
// they are within seconds. Immutable once it is in a View.
struct WaitStep {
  struct Wait {
    std::uint8_t kind = 0;
    std::uint32_t cells = 0;      // of `slots` and `counts` that are of this wait, in their order
    std::uint64_t waited_ns = 0;  // within the step, whether the waits have ended or not
  };
  struct Subject {
    std::shared_ptr<const SubjectLabels> labels;
    std::uint32_t waits = 0;  // of `waits` that are of this cgroup, in their order
    std::uint64_t running_ns = 0;
  };

  MonotonicTime begin, end;
  WallTime end_wall;
  std::vector<Subject> subjects;  // sorted by cgroup
  std::vector<Wait> waits;
  std::vector<std::uint8_t> slots;  // of episodes that ended within the step, whole
  std::vector<std::uint32_t> counts;

  [[nodiscard]] std::chrono::nanoseconds length() const { return end - begin; }
  [[nodiscard]] std::size_t bytes() const;

  // Calls subject(Subject) for each cgroup, and then wait(Wait) and cell(slot, count) for what is
  // of it, all in the order of the step.
  template <class OnSubject, class OnWait, class OnCell>
  void for_each(OnSubject on_subject, OnWait on_wait, OnCell on_cell) const {
    std::size_t wait = 0, cell = 0;
    for (const Subject& subject : subjects) {
      on_subject(subject);
      for (const std::size_t last = wait + subject.waits; wait < last; ++wait) {
        on_wait(waits[wait]);
        for (const std::size_t end_cell = cell + waits[wait].cells; cell < end_cell; ++cell) {
          on_cell(std::size_t{slots[cell]}, std::uint64_t{counts[cell]});
        }
      }
    }
  }
};

struct HistoryLimits {
  std::chrono::nanoseconds age = std::chrono::minutes(10);
  std::chrono::nanoseconds step = std::chrono::seconds(9);  // just below the usual pass_interval
  std::size_t bytes = std::size_t{8} << 20;
};

// The last minutes of all cgroups in steps of some ten seconds, so that a page or a client that
// comes anew can say how things went. Single-threaded; what record() returns is immutable.
class WaitHistory {
 public:
  explicit WaitHistory(HistoryLimits limits = {}) : limits_(limits) {}

  // Takes in what `view` has more than the ones before. Returns the steps up to it without a gap,
  // the oldest first; the last one may be shorter than the others. Empty for the first View.
  // "(removed)" series are left out: what they gain is old.
  std::vector<std::shared_ptr<const WaitStep>> record(const View& view);

 private:
  void forget_old(MonotonicTime now);

  HistoryLimits limits_;
  std::vector<SubjectSeries> base_;  // at the end of the last complete step
  MonotonicTime base_taken_;
  bool has_base_ = false;
  std::vector<std::shared_ptr<const WaitStep>> steps_;  // complete ones
  std::size_t bytes_ = 0;                               // of these
};

}  // namespace offcpud
