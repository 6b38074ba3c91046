// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/why_answer.h"

namespace offcpud {

// Lines for people below the verdicts: who waits for the units that were asked for, which units are
// left out, that there was no room for chains, and that less is kept than was asked for. Each says
// what to type. Printable. Empty: there is nothing to say.
std::string notes_text(const WhyAnswer& answer);

}  // namespace offcpud
