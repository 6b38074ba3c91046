// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "base/wait_age.h"

namespace offcpud {

// A duration as people read it, in UTF-8. Below 10 s it has three digits: "72.6 µs", "1.35 s".
// Below a minute it is in whole seconds, from a minute on in two units: "2 min 5 s", "1 d 4 h".
// Rounded. Zero, negative values and NaN are "0 s". The pages have the same rule: duration() in
// page/script/format.js.
std::string duration_text(std::chrono::duration<double> duration);
inline std::string duration_text(double seconds) {
  return duration_text(std::chrono::duration<double>(seconds));
}

// "34 s"; "~34 s" if that is an estimate.
std::string age_text(const WaitAge& age);

}  // namespace offcpud
