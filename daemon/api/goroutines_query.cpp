// SPDX-License-Identifier: Apache-2.0
#include "api/goroutines_query.h"

#include <limits>
#include <vector>

namespace offcpud {
namespace {

std::vector<Setting<GoroutinesQuery>> parameters_of_goroutines() {
  using Query = GoroutinesQuery;
  constexpr std::uint32_t kLastPid = std::numeric_limits<std::int32_t>::max();
  return {
      parameter<Query>("pid", member(&Query::pid), whole_number<std::uint32_t>(1, kLastPid)),
      parameter<Query>("limit", member(&Query::limit),
                       whole_number<std::size_t>(1, GoroutinesQuery::kMostLimit)),
      parameter<Query>("format", member(&Query::as_text), json_or_text()),
  };
}

}  // namespace

Result<GoroutinesQuery> GoroutinesQuery::parse(const Parameters& parameters) {
  GoroutinesQuery query;
  TRY_VOID(set_parameters(query, parameters_of_goroutines(), parameters));
  if (query.pid == 0) return usage_error("parameter pid is missing; give the number of a process");
  return query;
}

}  // namespace offcpud
