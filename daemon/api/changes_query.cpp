// SPDX-License-Identifier: Apache-2.0
#include "api/changes_query.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/time_parameter.h"

namespace offcpud {
namespace {

using Range = ChangesQuery::Range;

Notation<std::size_t> change_kind() {
  std::vector<NamedValue<std::size_t>> values;
  values.reserve(kChangeKinds);
  for (const std::string_view name : kChangeKindNames) values.push_back({name, values.size()});
  return choice(std::move(values));
}

// What parse() needs besides.
struct ParsedChanges : ChangesQuery {
  CgroupFilter unit;
};

std::vector<Setting<ParsedChanges>> parameters_of_changes(WallTime now) {
  using Query = ParsedChanges;
  const auto time = time_before(now);
  return {
      parameter<Query>("from", member(&Query::range, &Range::from), time),
      parameter<Query>("to", member(&Query::range, &Range::to), time),
      parameter<Query>("base_from", member(&Query::base, &Range::from), time),
      parameter<Query>("base_to", member(&Query::base, &Range::to), time),
      parameter<Query>("cgroup", member(&Query::cgroup), cgroup_filter()),
      parameter<Query>("unit", member(&Query::unit), cgroup_filter()),
      parameter<Query>("for", member(&Query::kinds),
                       some_of<decltype(Query::kinds)>(change_kind(), kChangeKindNames)),
      parameter<Query>("site", member(&Query::site), some_text()),
      parameter<Query>("idle", member(&Query::idle), flag()),
      parameter<Query>("limit", member(&Query::limit),
                       whole_number<std::size_t>(1, ChangesQuery::kMostLimit)),
      parameter<Query>("format", member(&Query::as_text), json_or_text()),
  };
}

}  // namespace

Result<ChangesQuery> ChangesQuery::parse(const Parameters& parameters, WallTime now) {
  ParsedChanges query;
  query.range = {.from = now - kRange, .to = now};
  TRY_VOID(set_parameters(query, parameters_of_changes(now), parameters));
  const bool has_cgroup = parameters.contains("cgroup");
  if (has_cgroup && parameters.contains("unit")) {
    return usage_error("parameters cgroup and unit mean the same; give one of them");
  }
  if (!has_cgroup) query.cgroup = query.unit;
  const auto given = [&](const char* name) { return parameters.contains(name); };
  if (!given("from") && given("to")) query.range.from = query.range.to - kRange;
  if (!given("base_to")) query.base.to = query.range.from;
  if (!given("base_from")) query.base.from = query.base.to - kBase;
  query.by_default = !given("from") && !given("to") && !given("base_from") && !given("base_to");
  TRY_VOID(check_times(query.range.from, query.range.to, ""));
  TRY_VOID(check_times(query.base.from, query.base.to, "base_"));
  // Who asks for idle waits wants to see them.
  if (given("for") && (query.kinds.test(static_cast<std::size_t>(WaitFor::Work)) ||
                       query.kinds.test(static_cast<std::size_t>(WaitFor::Timer)))) {
    query.idle = true;
  }
  return query;
}

}  // namespace offcpud
