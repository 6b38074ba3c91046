// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace offcpud {

// Returns `text`, which is UTF-8, in a form for the locale's encoding (setlocale): unchanged if
// that is UTF-8; else with "µ", "×", "−", "±" and "→" replaced by "u", "x", "-", "+-" and "->".
// Other characters stay, because they belong to names.
std::string for_locale(std::string text);

}  // namespace offcpud
