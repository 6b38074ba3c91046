// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace offcpud {

// `text` with the signs of numbers ("µ", "×", "−", "±", "→") as the locale's encoding has them
// (setlocale): unchanged if that is UTF-8, else in ASCII ("u", "x", "-", "+-", "->"). Other
// characters stay: they are of names.
std::string for_locale(std::string text);

}  // namespace offcpud
