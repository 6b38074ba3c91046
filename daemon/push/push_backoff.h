// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>

namespace offcpud {

// How long to wait after a failed attempt: 1 s, doubled each time up to 5 min, of which a random
// part of at most a half is taken off, so that hosts which failed together do not come back
// together. Single-threaded.
class PushBackoff {
 public:
  static constexpr std::chrono::seconds kFirst{1};
  static constexpr std::chrono::seconds kLongest{300};
  static constexpr std::chrono::seconds kLongestAsked{3600};

  // `first` in place of kFirst is for tests.
  explicit PushBackoff(std::uint64_t seed, std::chrono::milliseconds first = kFirst)
      : first_(first), random_(seed) {}

  // `asked` is the server's Retry-After: never earlier than that, unless it is beyond
  // kLongestAsked.
  [[nodiscard]] std::chrono::milliseconds next(std::optional<std::chrono::seconds> asked);

  // After an answer that settles what was sent.
  void reset() { failures_ = 0; }

 private:
  std::chrono::milliseconds first_;
  std::mt19937_64 random_;
  unsigned failures_ = 0;
};

}  // namespace offcpud
