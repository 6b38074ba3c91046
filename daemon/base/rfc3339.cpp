// SPDX-License-Identifier: Apache-2.0
#include "base/rfc3339.h"

#include <array>
#include <cstddef>
#include <cstdio>
#include <ctime>

namespace offcpud {

std::string rfc3339(WallTime time) {
  const auto milliseconds =
      std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count();
  const auto fraction = ((milliseconds % 1000) + 1000) % 1000;
  const auto seconds = static_cast<std::time_t>((milliseconds - fraction) / 1000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 80> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  (void)std::snprintf(text.data() + length, text.size() - length, ".%03dZ",
                      static_cast<int>(fraction));
  return text.data();
}

}  // namespace offcpud
