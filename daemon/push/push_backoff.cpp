// SPDX-License-Identifier: Apache-2.0
#include "push/push_backoff.h"

#include <algorithm>

namespace offcpud {

std::chrono::milliseconds PushBackoff::next(std::optional<std::chrono::seconds> asked) {
  constexpr unsigned kDoublings = 9;  // 2^9 s = 512 s exceeds the longest wait
  const auto whole = std::min<std::chrono::milliseconds>(first_ * (1U << failures_), kLongest);
  failures_ = std::min(failures_ + 1, kDoublings);
  std::uniform_int_distribution<std::int64_t> part(0, whole.count() / 2);
  const auto wait = whole - std::chrono::milliseconds(part(random_));
  if (!asked) return wait;
  return std::max<std::chrono::milliseconds>(wait, std::min(*asked, kLongestAsked));
}

}  // namespace offcpud
