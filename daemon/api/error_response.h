// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "http/http_message.h"

namespace offcpud {

inline constexpr const char* kJson = "application/json";
inline constexpr const char* kPlainText = "text/plain; charset=utf-8";

// {"error": sentence}. Bytes that are no UTF-8 are replaced.
Response error(unsigned status, const std::string& sentence);

}  // namespace offcpud
