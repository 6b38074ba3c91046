// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "why/cause.h"

namespace offcpud {

// `part` is a unit for which `unit` waited. Divides it by what the threads of that other unit did
// during these waits: whether they ran, or waited themselves, for what and for whom. Does nothing
// if too little is known. The unknown rest is a part of its own.
void divide_by_chains(Cause& part, const WhyInputs& inputs, const std::string& unit);

}  // namespace offcpud
