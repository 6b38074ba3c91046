// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/gil_site.h"
#include "why/cause.h"

namespace offcpud {

// Shared by the files that put trees of causes together.

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

// Why the holder of a lock, or the other end, is not known so far, although a later look may tell
// it.
inline constexpr std::string_view kOneLook = "it was looked at only once so far";
inline constexpr std::string_view kNoLook = "it was not looked at so far";
inline constexpr std::string_view kEndUnseen =
    "the other end was not seen so far: ask again in a minute";

// Whether a later look may tell what is not known now; `because` says why it is not.
bool is_not_yet(const std::string& because);

// "not known yet" if a later look may tell it, else "unknown"; `because` is why it is not known.
std::string_view unknown_or_not_yet(const std::string& because);

// Adds to what nobody knows. There is one such part for each reason, so that none stands for
// another.
void add_unknown(Cause& node, double threads, const std::string& because);

// Makes the parts add up to the node. The windows of the sources differ by some seconds, so the
// parts may be too much together; then all are reduced in proportion. The rest becomes unknown,
// `because`. Sorts the largest part first, and makes one part of those beyond twenty.
void fit(Cause& node, const std::string& because);

}  // namespace offcpud
