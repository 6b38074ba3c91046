// SPDX-License-Identifier: Apache-2.0
// The answer of /api/v1/top, of a server that wants to harm who asks it.
#include <clocale>

#include "ctl/terminal_text.h"
#include "ctl/top_answer.h"
#include "ctl/top_table.h"
#include "fuzz.h"
#include "text.h"
#include "unit/ctl/top_fixture.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  static const bool utf8 = std::setlocale(LC_CTYPE, "C.UTF-8") != nullptr;
  require(utf8, "this host has the locale C.UTF-8");
  const auto answer = parse_top_answer(std::string(input));
  if (!answer) return require(is_printable(answer.error().message()), "an error is one line");
  for (const std::size_t width : {std::size_t{20}, std::size_t{80}, kAnyWidth}) {
    const TopTable table = top_table(*answer, "server", width);
    require(table.rows.size() == answer->rows.size(), "each row is a line");
    require(is_printable(top_text(table), "\n"), "a terminal has nothing to obey");
    for (const std::string& row : table.rows) {
      require(width == kAnyWidth || terminal_width(row) <= width, "no line is too long");
    }
  }
}

std::vector<std::string> seeds() {
  return {test::kProcessesJson, test::kThreadsJson, "{}", "[]", "{\"error\":\"x\"}"};
}

}  // namespace offcpud::fuzz
