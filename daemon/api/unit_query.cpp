// SPDX-License-Identifier: Apache-2.0
#include "api/unit_query.h"

#include <vector>

#include "api/query_parameters.h"
#include "api/time_parameter.h"

namespace offcpud {
namespace {

std::vector<Setting<UnitQuery>> parameters_of_units(WallTime now) {
  return {
      parameter<UnitQuery>("window", member(&UnitQuery::window), window_length()),
      parameter<UnitQuery>("cgroup", member(&UnitQuery::cgroup), cgroup_filter()),
      parameter<UnitQuery>("below", member(&UnitQuery::below), flag()),
      parameter<UnitQuery>("for", member(&UnitQuery::wait_for), wait_for_name()),
      parameter<UnitQuery>("limit", member(&UnitQuery::limit), any_number<std::size_t>()),
      parameter<UnitQuery>("history", member(&UnitQuery::history), flag()),
      parameter<UnitQuery>("steps", member(&UnitQuery::steps), flag()),
      parameter<UnitQuery>("lengths", member(&UnitQuery::lengths), cgroup_filter()),
      parameter<UnitQuery>("usual", member(&UnitQuery::usual), flag()),
      parameter<UnitQuery>("to", member(&UnitQuery::to), time_before(now)),
  };
}

}  // namespace

Result<UnitQuery> UnitQuery::parse(const std::multimap<std::string, std::string>& parameters,
                                   WallTime now) {
  UnitQuery query;
  TRY_VOID(set_parameters(query, parameters_of_units(now), parameters));
  return query;
}

bool UnitQuery::admits(std::string_view path) const {
  return below ? cgroup.admits(path) : cgroup.admits_itself(path);
}

}  // namespace offcpud
