// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace offcpud {

// Calls add(window, is_last) for the windows that cover the last `time`, the last window first.
// Returns the length of these windows together.
template <class Windows, class Add>
std::chrono::nanoseconds for_each_recent(const Windows& windows, std::chrono::nanoseconds time,
                                         Add add) {
  std::chrono::nanoseconds covered{0};
  for (auto window = windows.rbegin(); window != windows.rend() && covered < time; ++window) {
    add(**window, window == windows.rbegin());
    covered += (*window)->length();
  }
  return covered;
}

}  // namespace offcpud
