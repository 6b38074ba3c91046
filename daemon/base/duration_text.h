// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace offcpud {

// A duration as people read it: "72.6 µs", "42.1 ms", "1.35 s" with three digits, whole seconds
// from 10 s on, and two units from a minute on: "2 min 5 s", "3 h 20 min", "1 d 4 h". Rounded; "0
// s" for zero, negative values and NaN. UTF-8. The pages have the same rule: duration() in
// page/script/format.js.
std::string duration_text(std::chrono::duration<double> duration);

}  // namespace offcpud
