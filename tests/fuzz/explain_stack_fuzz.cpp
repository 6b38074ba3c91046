// SPDX-License-Identifier: Apache-2.0
// Stacks that somebody gives to offcpuctl explain-stack.
#include <array>
#include <filesystem>

#include "ctl/explain_program.h"
#include "fuzz.h"
#include "sites/site_folders.h"
#include "text.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  static const auto rules =
      load_site_rules(std::array{std::filesystem::path(OFFCPUD_SOURCE_DIR) / "config/wait-sites"});
  require(static_cast<bool>(rules), "the shipped rules are rules");
  const auto text = explanation(std::string(input), {.verbose = true}, *rules);
  if (!text) return require(is_printable(text.error().message()), "an error is one line");
  require(is_printable(*text, "\n"), "a terminal has nothing to obey");
}

std::vector<std::string> seeds() {
  return {"postgres;main;WaitLatch;ProcSleep;-;do_epoll_wait_[k] 12\n",
          "lock;p;idle;poll|postgres;ProcSleep{postgres};epoll_wait{libc.so.6};do_poll_[k] 1234\n",
          "a;b;--;c;d 1\n",
          R"({"columns": ["comm", "reason", "stack", "ns"], "rows": [[0, 1, 1, 7000]],
              "stacks": [[], [0, 1]], "frames": [[2, 4, 0], [3, 4, 1]],
              "strings": ["app", "poll", "read", "ksys_read", ""]})"};
}

}  // namespace offcpud::fuzz
