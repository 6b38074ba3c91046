// SPDX-License-Identifier: Apache-2.0
#include "api/why_query.h"

#include <vector>

#include "api/time_parameter.h"

namespace offcpud {
namespace {

// What parse() needs besides.
struct ParsedWhy : WhyQuery {
  CgroupFilter unit;
};

Notation<std::optional<std::uint32_t>> process() {
  const auto number = any_number<std::uint32_t>();
  const auto parse = [number](std::string_view text) -> Result<std::optional<std::uint32_t>> {
    TRY(const std::uint32_t pid, number.parse(text));
    return std::optional<std::uint32_t>(pid);
  };
  return {parse, {}, number.allowed};
}

std::vector<Setting<ParsedWhy>> parameters_of_why(WallTime now) {
  using Query = ParsedWhy;
  return {
      parameter<Query>("cgroup", member(&Query::cgroup), cgroup_filter()),
      parameter<Query>("unit", member(&Query::unit), cgroup_filter()),
      parameter<Query>("pid", member(&Query::pid), process()),
      parameter<Query>("window", member(&Query::window), window_length()),
      parameter<Query>("to", member(&Query::to), time_before(now)),
      parameter<Query>("limit", member(&Query::limit),
                       whole_number<std::size_t>(1, WhyQuery::kMostLimit)),
      parameter<Query>("format", member(&Query::as_text), json_or_text()),
  };
}

}  // namespace

Result<WhyQuery> WhyQuery::parse(const Parameters& parameters, WallTime now) {
  ParsedWhy query;
  TRY_VOID(set_parameters(query, parameters_of_why(now), parameters));
  const std::size_t subjects =
      parameters.count("cgroup") + parameters.count("unit") + parameters.count("pid");
  if (subjects > 1) {
    return usage_error("parameters cgroup, unit and pid each say who waits; give one of them");
  }
  if (query.pid && query.to) {
    return usage_error(
        "of a process only the last seconds are kept; leave out to, or ask for a unit");
  }
  if (parameters.contains("unit")) query.cgroup = query.unit;
  return query;
}

}  // namespace offcpud
