// SPDX-License-Identifier: Apache-2.0
#include "ctl/daemon_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/printable.h"

namespace offcpud {

Result<std::string> daemon_text(const std::string& answer) {
  std::string text;
  std::string_view rest = answer;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    text += printable(rest.substr(0, end)) + "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return text;
}

Result<std::string> verdict_text(const std::string& answer) {
  constexpr const char* kNext =
      "\n"
      "next: offcpuctl why [UNIT|PID]  who is to blame, with amounts, errors and evidence\n"
      "      offcpuctl stalls          threads that are stuck now\n"
      "      offcpuctl top             processes, by what they wait for\n"
      "      offcpuctl diff            what waits longer than in the hour before\n"
      "      offcpuctl status          whether the daemon measures, and what is missing\n"
      "      offcpuctl --help          all commands\n";
  TRY(const std::string text, daemon_text(answer.substr(0, answer.find("\n\n"))));
  return text + kNext;
}

Result<std::string> json_checked(const std::string& answer) {
  if (!nlohmann::json::accept(answer)) return Error("the answer is no JSON");
  return answer;
}

}  // namespace offcpud
