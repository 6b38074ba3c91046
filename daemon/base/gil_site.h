// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace offcpud {

// The site of the shipped rules at which threads of Python wait for the GIL of their process. A
// rule of that name says that its waits are for the GIL, whose holder is found in a way of its own.
inline constexpr std::string_view kGilSite = "python-gil";

}  // namespace offcpud
