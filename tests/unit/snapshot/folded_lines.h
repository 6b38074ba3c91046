// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace offcpud::test {

struct FoldedLine {
  std::vector<std::string> frames;
  std::uint64_t value = 0;
};

// Reads folded text as speedscope does: the text before the last space, then a whole number. Throws
// std::invalid_argument for a line that is anything else: nothing is ignored.
std::vector<FoldedLine> parse_folded(std::string_view text);

std::uint64_t sum(const std::vector<FoldedLine>& lines);

}  // namespace offcpud::test
