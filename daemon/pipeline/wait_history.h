// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "attribution/subject.h"
#include "base/clock.h"
#include "base/wait_for.h"
#include "pipeline/interval_histogram.h"
#include "pipeline/recent_past.h"
#include "pipeline/view.h"

namespace offcpud {

// How the cgroups spent the time between two passes. It holds only what changed, since most slots
// of most histograms do not change within seconds. Immutable once it is in a View.
struct WaitStep {
  struct Wait {
    std::uint8_t kind = 0;
    std::uint32_t cells = 0;      // how many of `slots` and `counts` belong to this wait, in order
    std::uint64_t waited_ns = 0;  // within the step, whether waits ended or not
  };
  struct Subject {
    std::shared_ptr<const SubjectLabels> labels;
    std::uint32_t waits = 0;  // how many of `waits` belong to this cgroup, in order
    std::uint64_t running_ns = 0;
    std::uint32_t lengths = 0;  // how many of `lengths` belong to this cgroup, in order
  };
  // The blocks of one cgroup and one `for` that ended within the step, estimated from samples.
  struct Lengths {
    WaitFor wait_for = WaitFor::Unknown;
    std::uint32_t cells = 0;  // how many of `length_slots` and `length_counts` belong to it
  };

  MonotonicTime begin, end;
  WallTime end_wall;
  std::vector<Subject> subjects;  // sorted by cgroup
  std::vector<Wait> waits;
  std::vector<std::uint8_t> slots;  // slots of whole episodes that ended within the step
  std::vector<std::uint32_t> counts;
  std::vector<Lengths> lengths;  // only of what somebody may act on
  std::vector<std::uint8_t> length_slots;
  std::vector<std::uint32_t> length_counts;

  [[nodiscard]] std::chrono::nanoseconds length() const { return end - begin; }
  [[nodiscard]] std::size_t bytes() const;

  // Calls subject(Subject) for each cgroup, then wait(Wait) and cell(slot, count) for its waits and
  // their slots, in the order of the step.
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

  // Calls add(labels, wait_for, slot, count) for the slots of all `lengths`, in their order.
  template <class Add>
  void for_each_length(Add add) const {
    std::size_t at = 0, cell = 0;
    for (const Subject& subject : subjects) {
      for (const std::size_t last = at + subject.lengths; at < last; ++at) {
        for (const std::size_t end_cell = cell + lengths[at].cells; cell < end_cell; ++cell) {
          add(*subject.labels, lengths[at].wait_for, std::size_t{length_slots[cell]},
              std::uint64_t{length_counts[cell]});
        }
      }
    }
  }
};

struct HistoryLimits {
  std::chrono::nanoseconds age = std::chrono::minutes(10);
  std::chrono::nanoseconds step = kStepOfPast;
  std::size_t bytes = std::size_t{8} << 20;
};

// The last minutes of all cgroups in steps of about ten seconds, so that a new page or client can
// show how things went. Single-threaded; what record() returns is immutable.
class WaitHistory {
 public:
  explicit WaitHistory(HistoryLimits limits = {}) : limits_(limits) {}

  // Adds the increase from the View before to `view`. Returns the steps up to `view` without a gap,
  // oldest first; the last one may be shorter than the others. Empty for the first View. Leaves out
  // "(removed)" series, since what they gain is old.
  std::vector<std::shared_ptr<const WaitStep>> record(const View& view);

 private:
  void forget_old(MonotonicTime now);

  HistoryLimits limits_;
  std::vector<SubjectSeries> base_;  // series at the end of the last complete step
  MonotonicTime base_taken_;
  bool has_base_ = false;
  std::vector<std::shared_ptr<const WaitStep>> steps_;  // complete ones
  std::size_t bytes_ = 0;                               // size of the complete steps
};

}  // namespace offcpud
