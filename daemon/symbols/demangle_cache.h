// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "symbols/two_generations.h"

namespace offcpud {

// Remembers results of demangle(), in at most `bytes`. Owned by one thread.
class DemangleCache {
 public:
  explicit DemangleCache(std::size_t bytes) : names_(bytes) {}

  // Valid until the next call.
  const std::string& shown(std::string_view symbol);

  [[nodiscard]] std::size_t bytes() const { return names_.bytes(); }

 private:
  TwoGenerations<std::string, std::string> names_;
};

}  // namespace offcpud
