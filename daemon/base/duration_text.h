// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace offcpud {

// A duration as people read it, in UTF-8: with three digits below 10 s ("72.6 µs", "42.1 ms",
// "1.35 s"), in whole seconds below a minute, and in two units from a minute on ("2 min 5 s",
// "3 h 20 min", "1 d 4 h"). Rounded. Zero, negative values and NaN are "0 s". The pages have the
// same rule: duration() in page/script/format.js.
std::string duration_text(std::chrono::duration<double> duration);

}  // namespace offcpud
