// SPDX-License-Identifier: Apache-2.0
#include "histogram/wait_estimate.h"

#include <algorithm>
#include <cmath>

#include "latency_slot.h"

namespace offcpud {
namespace {

// The whole number to show of `rest`, which keeps what is left.
std::uint64_t take_whole(double& rest) {
  const double whole = std::max(0.0, std::floor(rest + 0.5));
  rest -= whole;
  return static_cast<std::uint64_t>(whole);
}

}  // namespace

// A wait was sampled with the probability p = length / whole. What it stands for is divided by p,
// as Horvitz and Thompson do (stacks/stack_sums.cpp): 1 / p waits, length / p of time, and
// length^2 (1 - p) / p^2 of variance.
void WaitEstimate::add(std::uint64_t length_ns, std::uint64_t whole_ns) {
  const auto length = static_cast<double>(length_ns);
  const double whole = std::max(length, static_cast<double>(whole_ns));
  add_to_slot(static_cast<std::uint16_t>(offcpud_slot(length_ns)), whole / length);
  sum_ns += whole;
  variance_ns2 += whole * (whole - length);
}

void WaitEstimate::add_to_slot(std::uint16_t slot, double waits) {
  const auto place = std::ranges::lower_bound(slots, slot, {}, &Slot::slot);
  if (place != slots.end() && place->slot == slot) {
    place->waits += waits;
  } else {
    slots.insert(place, Slot{.slot = slot, .waits = waits});
  }
}

WaitEstimate& WaitEstimate::operator+=(const WaitEstimate& other) {
  for (const Slot& each : other.slots) add_to_slot(each.slot, each.waits);
  sum_ns += other.sum_ns;
  variance_ns2 += other.variance_ns2;
  return *this;
}

// The parts' variances add up to that of the whole.
WaitEstimate WaitEstimate::part(double share) const {
  WaitEstimate part = *this;
  for (Slot& each : part.slots) each.waits *= share;
  part.sum_ns *= share;
  part.variance_ns2 *= share;
  return part;
}

EstimatedHistogram& EstimatedHistogram::operator+=(const WaitEstimate& estimate) {
  for (const WaitEstimate::Slot& each : estimate.slots) add(each.slot, each.waits);
  add_ns(estimate.sum_ns);
  variance_ns2_ += estimate.variance_ns2;
  return *this;
}

EstimatedHistogram& EstimatedHistogram::operator+=(const LatencyHistogram& exact) {
  shown_ += exact;
  return *this;
}

EstimatedHistogram& EstimatedHistogram::operator+=(const EstimatedHistogram& other) {
  shown_ += other.shown_;
  for (std::size_t slot = 0; slot < rest_.size(); ++slot) add(slot, other.rest_[slot]);
  add_ns(other.rest_ns_);
  variance_ns2_ += other.variance_ns2_;
  return *this;
}

void EstimatedHistogram::add(std::size_t slot, double waits) {
  double rest = static_cast<double>(rest_[slot]) + waits;
  shown_.slots[slot] += take_whole(rest);
  rest_[slot] = static_cast<float>(rest);
}

void EstimatedHistogram::add_ns(double ns) {
  rest_ns_ += ns;
  shown_.sum_ns += take_whole(rest_ns_);
}

}  // namespace offcpud
