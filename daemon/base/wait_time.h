// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace offcpud {

// An estimate of how long threads waited within a window of time, whether their waits ended or not.
// A value type.
struct WaitTime {
  double ns = 0;
  double variance_ns2 = 0;  // of ns

  // Adds the part of a sampled wait that was within the window, and the time that it stands for.
  void add(double part_ns, double stands_for_ns) {
    ns += stands_for_ns;
    if (stands_for_ns > part_ns) variance_ns2 += stands_for_ns * (stands_for_ns - part_ns);
  }
  WaitTime& operator+=(const WaitTime& other) {
    ns += other.ns;
    variance_ns2 += other.variance_ns2;
    return *this;
  }
  // A share of this time; the variances of all shares add up to that of the whole.
  [[nodiscard]] WaitTime part(double share) const {
    return {.ns = share * ns, .variance_ns2 = share * variance_ns2};
  }
  friend bool operator==(const WaitTime&, const WaitTime&) = default;
};

}  // namespace offcpud
