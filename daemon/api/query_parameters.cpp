// SPDX-License-Identifier: Apache-2.0
#include "api/query_parameters.h"

#include <utility>
#include <vector>

#include "config/duration.h"
#include "config/reason_names.h"

namespace offcpud {

Error usage_error(const std::string& sentence) {
  return Error(sentence, ErrorKind::Usage);
}

Notation<std::string> some_text(std::string allowed) {
  const auto parse = [](std::string_view text) -> Result<std::string> {
    if (text.empty()) return Error("is empty");
    return std::string(text);
  };
  return {parse, {}, std::move(allowed)};
}

Notation<std::chrono::milliseconds> window_length() {
  const auto parse = [](std::string_view text) -> Result<std::chrono::milliseconds> {
    TRY(const auto window, parse_duration(text));
    if (window == window.zero()) return Error("is no time");
    return window;
  };
  return {parse, {}, "a duration such as 60s or 5min"};
}

Notation<CgroupFilter> cgroup_filter() {
  return {CgroupFilter::parse, {}, CgroupFilter::kAllowed};
}

Notation<std::size_t> blocked_reason() {
  std::vector<NamedValue<std::size_t>> reasons;
  for (const std::string_view reason : kReasonNames) reasons.push_back({reason, reasons.size()});
  return choice(std::move(reasons));
}

Notation<WaitFor> wait_for_name() {
  std::vector<NamedValue<WaitFor>> values;
  values.reserve(kWaitForNames.size());
  for (const std::string_view name : kWaitForNames) {
    values.push_back({name, static_cast<WaitFor>(values.size())});
  }
  return choice(std::move(values));
}

Notation<bool> json_or_text() {
  return choice<bool>({{"json", false}, {"text", true}});
}

}  // namespace offcpud
