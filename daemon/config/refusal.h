// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/printable.h"
#include "base/result.h"

namespace offcpud {

// The error (ErrorKind::Configuration) of a value that is not allowed, a fragment that quotes it:
// `"x" is not known`.
inline Error refusal(std::string_view value, std::string_view problem) {
  return Error(quotation(value) + " " + std::string(problem), ErrorKind::Configuration);
}

}  // namespace offcpud
