// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>

namespace offcpud {

// How long to wait after a failed attempt: 1 s, doubled each time up to 5 min, minus a random part
// of at most half, so that hosts that failed together do not retry together. Single-threaded.
class PushBackoff {
 public:
  static constexpr std::chrono::seconds kFirst{1};
  static constexpr std::chrono::seconds kLongest{300};
  static constexpr std::chrono::seconds kLongestAsked{3600};

  // Tests pass another `first` than kFirst.
  explicit PushBackoff(std::uint64_t seed, std::chrono::milliseconds first = kFirst)
      : first_(first), random_(seed) {}

  // `asked`: the server's Retry-After. The wait is at least that, or kLongestAsked if that is less.
  [[nodiscard]] std::chrono::milliseconds next(std::optional<std::chrono::seconds> asked);

  // Call it after an answer that settles the profile.
  void reset() { failures_ = 0; }

 private:
  std::chrono::milliseconds first_;
  std::mt19937_64 random_;
  unsigned failures_ = 0;
};

}  // namespace offcpud
