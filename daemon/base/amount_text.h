// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace offcpud {

// Threads that waited on average, as people read them: "8.1", "0.45" with two digits below 10,
// "31" above, "< 0.01" if it rounds to nothing, "0".
std::string threads_text(double threads);

// The same with a sign: "+7.9", "-0.45".
std::string change_text(double threads);

// How much of what is said besides: "98 %", "1.0 %", "< 0.1 %", "0 %".
std::string share_text(double share);

// "22x", "2.2x", "> 100x"; `before` must be positive.
std::string factor_text(double before, double after);

// At least so many columns: text to the left, numbers to the right. UTF-8 counts by characters.
std::string left_aligned(std::string_view text, std::size_t columns);
std::string right_aligned(std::string_view text, std::size_t columns);

// The text itself, or its beginning and "..." in so many columns.
std::string cut(std::string_view text, std::size_t columns);

}  // namespace offcpud
