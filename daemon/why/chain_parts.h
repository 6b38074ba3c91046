// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "why/cause.h"
#include "why/why_inputs.h"

namespace offcpud {

// Multiplies all amounts of a node and of what is below it.
void scale_cause(Cause& cause, double scale);

// Divides the time that `unit` waited for another one, `part`, among what that did meanwhile, hop
// by hop. What the chains leave is unknown.
void add_chain_parts(Cause& part, const Source<UnitChain>& chains, const std::string& unit);

}  // namespace offcpud
