// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/printable.h"
#include "base/result.h"

namespace offcpud {

// The error of a value that is not allowed (ErrorKind::Configuration). It is a fragment that quotes
// the value: `"x" is not known`.
inline Error refusal(std::string_view value, std::string_view problem) {
  return Error(quotation(value) + " " + std::string(problem), ErrorKind::Configuration);
}

}  // namespace offcpud
