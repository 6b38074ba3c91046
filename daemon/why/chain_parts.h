// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "why/cause.h"

namespace offcpud {

// Divides a part of what `unit` waited, a unit that it waited for, by what that unit's threads did
// during these waits: whether they ran, or waited for something themselves, and for whom. Does
// nothing if too little is known of it. What is not known is a part of its own.
void divide_by_chains(Cause& part, const WhyInputs& inputs, const std::string& unit);

}  // namespace offcpud
