// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "why/cause.h"

namespace offcpud {

// Divides `part`, which is a unit for which threads of `unit` waited or `unit` itself, by what the
// threads that were waited for did during these waits: whether they ran, or waited themselves, for
// what and for whom. Does nothing if too little is known. The unknown rest is a part of its own.
void divide_by_chains(Cause& part, const WhyInputs& inputs, const std::string& unit);

}  // namespace offcpud
