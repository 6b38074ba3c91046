// SPDX-License-Identifier: Apache-2.0
#include "api/stall_query.h"

#include <string_view>

#include "api/query_parameters.h"
#include "base/hist_kind.h"

namespace offcpud {
namespace {

Status set_state(StallQuery& query, const std::string& value) {
  if (value != "in_progress" && value != "ended") {
    return bad_value("state", value, "in_progress or ended");
  }
  query.ended = value == "ended";
  return {};
}

Status set_cgroup(StallQuery& query, const std::string& value) {
  return offcpud::set_cgroup(query.cgroup, value);
}

Status set_comm(StallQuery& query, const std::string& value) {
  return set_text(query.comm, "comm", value, "the name of a thread or process");
}

Status set_reason(StallQuery& query, const std::string& value) {
  for (std::size_t kind = 0; kind < OFFCPUD_BLOCKED_KINDS; ++kind) {
    if (kHistKindNames[kind] != value) continue;
    query.kind = kind;
    return {};
  }
  return bad_value("reason", value, "one of " + reason_names());
}

Status set_limit(StallQuery& query, const std::string& value) {
  std::size_t limit = 0;
  if (!is_number(value, limit) || limit == 0 || limit > StallQuery::kMostLimit) {
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
  return unknown_parameter(name, "state, cgroup, comm, reason or limit");
}

}  // namespace

Result<StallQuery> StallQuery::parse(const std::multimap<std::string, std::string>& parameters) {
  StallQuery query;
  TRY_VOID(set_each(parameters, [&](const std::string& name, const std::string& value) {
    return set(query, name, value);
  }));
  return query;
}

bool StallQuery::admits(const Stall& stall) const {
  if (ended && *ended != stall.ended) return false;
  if (kind && *kind != stall.kind) return false;
  if (!comm.empty() && comm != stall.comm && comm != stall.process_comm) return false;
  return cgroup.admits(stall.labels->cgroup);
}

}  // namespace offcpud
