// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace offcpud {

// Admits one message per key and period and counts the rest. Thread-safe. A key names the place in
// the program, never something from outside, because entries are kept for ever.
class RateLimited {
 public:
  explicit RateLimited(const Clock& clock, std::chrono::seconds period = std::chrono::minutes(1))
      : clock_(clock), period_(period) {}

  // The line to log now, with "(N more suppressed)" if earlier ones were held back. nullopt: this
  // one is held back.
  std::optional<std::string> admit(std::string_view key, std::string_view message);

 private:
  struct Site {
    MonotonicTime last_admitted;
    std::uint64_t suppressed = 0;
  };

  const Clock& clock_;
  std::chrono::seconds period_;
  std::mutex mutex_;
  std::map<std::string, Site, std::less<>> sites_;  // guarded by mutex_
};

}  // namespace offcpud
