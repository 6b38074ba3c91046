// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace offcpud {

// A glob is text in which `*` stands for any bytes, also for none; there are no other wildcards.
inline bool is_glob(std::string_view glob) {
  return glob.find('*') != std::string_view::npos;
}

// Whether the whole text fits. No backtracking: at most the product of both lengths in steps.
bool glob_matches(std::string_view glob, std::string_view text);

// Whether every text that fits `other` certainly fits `glob`.
bool glob_covers(std::string_view glob, std::string_view other);

}  // namespace offcpud
