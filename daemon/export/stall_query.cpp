// SPDX-License-Identifier: Apache-2.0
#include "export/stall_query.h"

#include <charconv>
#include <string_view>
#include <system_error>

#include "config/printable.h"
#include "histogram/hist_kind.h"

namespace offcpud {
namespace {

Error refusal(const std::string& sentence) {
  return Error(sentence, ErrorKind::Usage);
}

Error bad_value(std::string_view name, std::string_view value, const std::string& allowed) {
  return refusal("parameter " + std::string(name) + ": " + quotation(value) +
                 " is not allowed; use " + allowed);
}

std::string reasons() {
  std::string text = "one of ";
  for (std::size_t kind = 0; kind < OFFCPUD_BLOCKED_KINDS; ++kind) {
    text.append(kind == 0 ? "" : ", ").append(kHistKindNames[kind]);
  }
  return text;
}

Status set_state(StallQuery& query, const std::string& value) {
  if (value != "in_progress" && value != "ended") {
    return bad_value("state", value, "in_progress or ended");
  }
  query.ended = value == "ended";
  return {};
}

Status set_cgroup(StallQuery& query, const std::string& value) {
  if (value.empty()) return bad_value("cgroup", value, "a path such as /system.slice");
  query.cgroup = value;
  return {};
}

Status set_comm(StallQuery& query, const std::string& value) {
  if (value.empty()) return bad_value("comm", value, "the name of a thread or process");
  query.comm = value;
  return {};
}

Status set_reason(StallQuery& query, const std::string& value) {
  for (std::size_t kind = 0; kind < OFFCPUD_BLOCKED_KINDS; ++kind) {
    if (kHistKindNames[kind] != value) continue;
    query.kind = kind;
    return {};
  }
  return bad_value("reason", value, reasons());
}

Status set_limit(StallQuery& query, const std::string& value) {
  std::size_t limit = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, code] = std::from_chars(value.data(), end, limit);
  if (code != std::errc{} || stop != end || limit == 0 || limit > StallQuery::kMostLimit) {
    return bad_value("limit", value,
                     "a whole number from 1 to " + std::to_string(StallQuery::kMostLimit));
  }
  query.limit = limit;
  return {};
}

constexpr struct {
  std::string_view name;
  Status (*set)(StallQuery& query, const std::string& value);
} kParameters[] = {{"state", set_state},
                   {"cgroup", set_cgroup},
                   {"comm", set_comm},
                   {"reason", set_reason},
                   {"limit", set_limit}};

Status set(StallQuery& query, const std::string& name, const std::string& value) {
  for (const auto& parameter : kParameters) {
    if (parameter.name == name) return parameter.set(query, value);
  }
  return refusal("unknown parameter " + quotation(name) +
                 "; use state, cgroup, comm, reason or limit");
}

bool is_below(std::string_view path, std::string_view ancestor) {
  while (ancestor.ends_with('/')) ancestor.remove_suffix(1);
  if (!path.starts_with(ancestor)) return false;
  return path.size() == ancestor.size() || path[ancestor.size()] == '/';
}

}  // namespace

Result<StallQuery> StallQuery::parse(const std::multimap<std::string, std::string>& parameters) {
  StallQuery query;
  for (const auto& [name, value] : parameters) {
    if (parameters.count(name) > 1) {
      return refusal("parameter " + quotation(name) + " is given twice; give it once");
    }
    TRY_VOID(set(query, name, value));
  }
  return query;
}

bool StallQuery::admits(const Stall& stall) const {
  if (ended && *ended != stall.ended) return false;
  if (kind && *kind != stall.kind) return false;
  if (!comm.empty() && comm != stall.comm && comm != stall.process_comm) return false;
  return cgroup.empty() || is_below(stall.labels->cgroup, cgroup);
}

}  // namespace offcpud
