// SPDX-License-Identifier: Apache-2.0
#pragma once

// Include this before the headers of protozero wherever messages are read. The library only asserts
// that a field has the type it is read as. Our bytes come from files and networks, so a wrong type
// must be an exception in every build. All readers in a program must use this: protozero's
// functions are inline, and the linker keeps one copy of each.

#include <stdexcept>

#ifdef PROTOZERO_PBF_READER_HPP
#error "include base/checked_protozero.h before protozero"
#endif

#define protozero_assert(condition) \
  ((condition) ? void() : throw std::invalid_argument("a field has an unexpected type"))
