// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace offcpud {

// A duration as people read it: "850 ns", "42.1 ms", "59.9 s" with three digits, and two units from
// a minute on: "2 min 5 s", "3 h 20 min", "1 d 4 h". Rounded; "0 s" for zero, negative values and
// NaN. The pages have the same rule: duration() in page/script/format.js.
std::string duration_text(std::chrono::duration<double> duration);

}  // namespace offcpud
