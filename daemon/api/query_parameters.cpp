// SPDX-License-Identifier: Apache-2.0
#include "api/query_parameters.h"

#include "base/hist_kind.h"
#include "base/printable.h"

namespace offcpud {

Error refusal(const std::string& sentence) {
  return Error(sentence, ErrorKind::Usage);
}

Error bad_value(std::string_view name, std::string_view value, const std::string& allowed) {
  return refusal("parameter " + std::string(name) + ": " + quotation(value) +
                 " is not allowed; use " + allowed);
}

Error unknown_parameter(std::string_view name, const std::string& known) {
  return refusal("unknown parameter " + quotation(name) + "; use " + known);
}

Error given_twice(std::string_view name) {
  return refusal("parameter " + quotation(name) + " is given twice; give it once");
}

Status set_flag(bool& flag, std::string_view name, const std::string& value) {
  if (value != "true" && value != "false") return bad_value(name, value, "true or false");
  flag = value == "true";
  return {};
}

Status set_text(std::string& text, std::string_view name, const std::string& value,
                const char* allowed) {
  if (value.empty()) return bad_value(name, value, allowed);
  text = value;
  return {};
}

std::string reason_names() {
  std::string names;
  for (std::size_t kind = 0; kind < OFFCPUD_BLOCKED_KINDS; ++kind) {
    names.append(names.empty() ? "" : ", ").append(kHistKindNames[kind]);
  }
  return names;
}

Status set_cgroup(CgroupFilter& cgroup, const std::string& value) {
  auto parsed = CgroupFilter::parse(value);
  if (!parsed) return bad_value("cgroup", value, CgroupFilter::kAllowed);
  cgroup = *std::move(parsed);
  return {};
}

}  // namespace offcpud
