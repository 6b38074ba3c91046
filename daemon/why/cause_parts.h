// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include "why/cause.h"

namespace offcpud {

// What those share who put trees of causes together.

inline constexpr double kNothing = 1e-6;  // threads

constexpr std::size_t index_of(WaitFor wait_for) {
  return static_cast<std::size_t>(wait_for);
}

// Amounts of one window, in threads on average.
class Rate {
 public:
  explicit Rate(double seconds) : ns_(seconds * 1e9) {}
  [[nodiscard]] double threads(double ns) const { return ns_ > 0 ? ns / ns_ : 0; }
  [[nodiscard]] double error(double variance_ns2) const {
    return threads(std::sqrt(std::max(0.0, variance_ns2)));
  }

 private:
  double ns_;
};

// Whether the holder of a lock at this site can be seen: the site is empty, or says only that the
// lock is one of the C library, the kernel or a file.
bool is_any_lock(const std::string& site);

// Why the holder of a lock is not known so far, although a later look may tell him.
inline constexpr std::string_view kOneLook = "it was looked at only once so far";
inline constexpr std::string_view kNoLook = "it was not looked at so far";

// "not known yet" if a later look may tell it, else "unknown"; `because` is why it is not known.
std::string_view unknown_or_not_yet(const std::string& because);

// Adds what nobody knows; by reason, since one must not stand for another.
void add_unknown(Cause& node, double threads, const std::string& because);

// Parts never add up to more than the node. Sources look at windows that differ by some seconds, so
// they may claim more; then all claim less. What they leave is unknown, `because`. The largest part
// comes first, and the smallest beyond twenty become one.
void fit(Cause& node, const std::string& because);

}  // namespace offcpud
