// SPDX-License-Identifier: Apache-2.0
#include "histogram/latency_histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace offcpud {

LatencyHistogram& LatencyHistogram::operator+=(const offcpud_hist& shard) {
  // Read before the slots: the programs write the sum last (bpf/histogram.bpf.h, hist_add).
  sum_ns += __atomic_load_n(&shard.sum_ns, __ATOMIC_ACQUIRE);
  for (std::size_t i = 0; i < slots.size(); ++i) slots[i] += shard.slots[i];
  return *this;
}

LatencyHistogram& LatencyHistogram::operator+=(const LatencyHistogram& other) {
  sum_ns += other.sum_ns;
  for (std::size_t i = 0; i < slots.size(); ++i) slots[i] += other.slots[i];
  return *this;
}

std::uint64_t LatencyHistogram::count() const {
  return std::accumulate(slots.begin(), slots.end(), std::uint64_t{0});
}

bool LatencyHistogram::empty() const {
  return std::all_of(slots.begin(), slots.end(), [](std::uint64_t n) { return n == 0; });
}

double slot_bound_seconds(std::size_t slot) {
  if (slot >= OFFCPUD_SLOT_BOUNDS) return std::numeric_limits<double>::infinity();
  const double exponent = static_cast<double>(slot) / OFFCPUD_SLOTS_PER_OCTAVE;
  return std::exp2(exponent + OFFCPUD_FIRST_OCTAVE);
}

namespace {

constexpr unsigned kOctaves = 28;  // 2^-20 .. 2^7 s

constexpr std::array<const char*, kOctaves> kBoundText = {"9.5367431640625e-07",
                                                          "1.9073486328125e-06",
                                                          "3.814697265625e-06",
                                                          "7.62939453125e-06",
                                                          "1.52587890625e-05",
                                                          "3.0517578125e-05",
                                                          "6.103515625e-05",
                                                          "0.0001220703125",
                                                          "0.000244140625",
                                                          "0.00048828125",
                                                          "0.0009765625",
                                                          "0.001953125",
                                                          "0.00390625",
                                                          "0.0078125",
                                                          "0.015625",
                                                          "0.03125",
                                                          "0.0625",
                                                          "0.125",
                                                          "0.25",
                                                          "0.5",
                                                          "1",
                                                          "2",
                                                          "4",
                                                          "8",
                                                          "16",
                                                          "32",
                                                          "64",
                                                          "128"};

template <std::size_t Step>
constexpr auto every() {
  std::array<ClassicBucket, kOctaves / Step> buckets{};
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    buckets[i] = {i * Step * OFFCPUD_SLOTS_PER_OCTAVE, kBoundText[i * Step]};
  }
  return buckets;
}

constexpr auto kPowersOfTwo = every<1>();
constexpr auto kPowersOfFour = every<2>();

}  // namespace

std::span<const ClassicBucket> classic_buckets(unsigned count) {
  if (count == kPowersOfFour.size()) return kPowersOfFour;
  return kPowersOfTwo;
}

}  // namespace offcpud
