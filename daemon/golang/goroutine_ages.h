// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "golang/goroutine_reader.h"

namespace offcpud {

// Says how long goroutines of one look have waited, at least.
class GoroutineAges {
 public:
  explicit GoroutineAges(const GoroutineLook& look);

  // `goroutine` is one of the look. nullopt: nothing is certain.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> of(const WaitingGoroutine& goroutine) const;

 private:
  MonotonicTime now_;
  // Times of garbage collections that some goroutine notes, ascending.
  std::vector<std::uint64_t> collections_;
};

// Whether a goroutine is the runtime's own, by the function that it was started with.
inline bool is_of_go_runtime(std::string_view outermost) {
  return outermost.starts_with("runtime.") && outermost != "runtime.main";
}

}  // namespace offcpud
