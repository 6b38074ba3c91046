// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "histogram/latency_histogram.h"

namespace offcpud {

// An estimate, from samples, of waits that have ended: how many there were of each length, and how
// long they took together. Unbiased, whatever the sampling intervals were. A value type.
struct WaitEstimate {
  struct Slot {
    std::uint16_t slot = 0;
    double waits = 0;

    friend bool operator==(const Slot&, const Slot&) = default;
  };
  std::vector<Slot> slots;  // ascending, each once; few, as the waits of one place have few lengths
  double sum_ns = 0;
  double variance_ns2 = 0;  // of sum_ns

  // Adds a sampled wait of `length_ns`, which is not 0. It stands for `whole_ns` of time in waits
  // of that length: offcpud_sample::whole_ns.
  void add(std::uint64_t length_ns, std::uint64_t whole_ns);
  WaitEstimate& operator+=(const WaitEstimate& other);
  // A share of the waits, where nobody knows which of them belong to it.
  [[nodiscard]] WaitEstimate part(double share) const;

  friend bool operator==(const WaitEstimate&, const WaitEstimate&) = default;

 private:
  void add_to_slot(std::uint16_t slot, double waits);
};

// A histogram that grows by estimates. It shows whole numbers, each the nearest one to what was
// added since the start, so none of them ever goes down. A value type.
class EstimatedHistogram {
 public:
  EstimatedHistogram& operator+=(const WaitEstimate& estimate);
  EstimatedHistogram& operator+=(const LatencyHistogram& exact);
  EstimatedHistogram& operator+=(const EstimatedHistogram& other);

  [[nodiscard]] const LatencyHistogram& shown() const { return shown_; }
  // Of the sum of all lengths, in ns^2.
  [[nodiscard]] double variance_ns2() const { return variance_ns2_; }
  // Whether nothing was added so far, not even a part that is not shown yet.
  [[nodiscard]] bool is_new() const { return *this == EstimatedHistogram{}; }

  friend bool operator==(const EstimatedHistogram&, const EstimatedHistogram&) = default;

 private:
  void add(std::size_t slot, double waits);
  void add_ns(double ns);

  LatencyHistogram shown_;
  // What is not shown yet: between -0.5 and 0.5.
  std::array<float, OFFCPUD_SLOTS> rest_{};
  double rest_ns_ = 0;
  double variance_ns2_ = 0;
};

}  // namespace offcpud
