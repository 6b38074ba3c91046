// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

namespace offcpud {

// Remembers results of demangle(). Holds two generations of at most half of `bytes` each: when the
// new one is full, it becomes the old one, and the names of the former old one that were not used
// since are forgotten. Owned by one thread.
class DemangleCache {
 public:
  explicit DemangleCache(std::size_t bytes) : half_(bytes / 2) {}

  // Valid until the next call.
  const std::string& shown(std::string_view symbol);

  [[nodiscard]] std::size_t bytes() const { return young_bytes_ + old_bytes_; }

 private:
  using Names = std::unordered_map<std::string, std::string>;

  std::size_t half_;
  Names young_;
  Names old_;
  std::size_t young_bytes_ = 0;
  std::size_t old_bytes_ = 0;
};

}  // namespace offcpud
