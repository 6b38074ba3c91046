// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/why_answer.h"

namespace offcpud {

// Lines for people below the verdicts: who waits for the units that were asked for, which units are
// left out, what found no room, and that less is kept than was asked for. Most say what to type.
// Printable. Empty: there is nothing to say.
std::string notes_text(const WhyAnswer& answer);

}  // namespace offcpud
