// SPDX-License-Identifier: Apache-2.0
#include "api/unit_query.h"

#include "api/query_parameters.h"
#include "config/duration.h"

namespace offcpud {
namespace {

Status set_window(UnitQuery& query, const std::string& value) {
  const auto window = parse_duration(value);
  if (!window || *window <= std::chrono::milliseconds(0)) {
    return bad_value("window", value, "a duration such as 60s or 5min");
  }
  query.window = *window;
  return {};
}

Status set_cgroup(UnitQuery& query, const std::string& value) {
  return offcpud::set_cgroup(query.cgroup, value);
}

Status set_limit(UnitQuery& query, const std::string& value) {
  std::size_t limit = 0;
  if (!is_number(value, limit)) return bad_value("limit", value, "a whole number such as 20");
  query.limit = limit;
  return {};
}

Status set_below(UnitQuery& query, const std::string& value) {
  return set_flag(query.below, "below", value);
}

Status set_history(UnitQuery& query, const std::string& value) {
  return set_flag(query.history, "history", value);
}

constexpr struct {
  std::string_view name;
  Status (*set)(UnitQuery& query, const std::string& value);
} kParameters[] = {{"window", set_window},
                   {"cgroup", set_cgroup},
                   {"below", set_below},
                   {"limit", set_limit},
                   {"history", set_history}};

Status set(UnitQuery& query, const std::string& name, const std::string& value) {
  for (const auto& parameter : kParameters) {
    if (parameter.name == name) return parameter.set(query, value);
  }
  return unknown_parameter(name, "window, cgroup, below, limit or history");
}

}  // namespace

Result<UnitQuery> UnitQuery::parse(const std::multimap<std::string, std::string>& parameters) {
  UnitQuery query;
  TRY_VOID(set_each(parameters, [&](const std::string& name, const std::string& value) {
    return set(query, name, value);
  }));
  return query;
}

bool UnitQuery::admits(std::string_view path) const {
  return below ? cgroup.admits(path) : cgroup.admits_itself(path);
}

}  // namespace offcpud
