// SPDX-License-Identifier: Apache-2.0
#include "api/stall_query.h"

#include <vector>

#include "api/query_parameters.h"

namespace offcpud {
namespace {

std::vector<Setting<StallQuery>> parameters_of_stalls() {
  using Query = StallQuery;
  return {
      parameter<Query>(
          "state", member(&Query::ended),
          choice<bool>({{"in_progress", false}, {"ended", true}}, "in_progress or ended")),
      parameter<Query>("cgroup", member(&Query::cgroup), cgroup_filter()),
      parameter<Query>("comm", member(&Query::comm), some_text("the name of a thread or process")),
      parameter<Query>("reason", member(&Query::kind), blocked_reason()),
      parameter<Query>("for", member(&Query::wait_for), wait_for_name()),
      parameter<Query>("limit", member(&Query::limit),
                       whole_number<std::size_t>(1, Query::kMostLimit)),
  };
}

}  // namespace

Result<StallQuery> StallQuery::parse(const std::multimap<std::string, std::string>& parameters) {
  StallQuery query;
  TRY_VOID(set_parameters(query, parameters_of_stalls(), parameters));
  return query;
}

bool StallQuery::admits(const Stall& stall) const {
  if (!stall.told && !wait_for) return false;
  if (wait_for) {
    const WaitFor known = stall.wait ? stall.wait->wait_for : WaitFor::Unknown;
    const bool is_unsure = !stall.told && *wait_for == WaitFor::Unknown;
    if (*wait_for != known && !is_unsure) return false;
  }
  return admits_thread(stall);
}

bool StallQuery::admits_unusual(const Stall& stall) const {
  return (!wait_for || *wait_for == WaitFor::Unknown) && admits_thread(stall);
}

bool StallQuery::admits_thread(const Stall& stall) const {
  if (ended && *ended != stall.ended) return false;
  if (kind && *kind != stall.kind) return false;
  if (!comm.empty() && comm != stall.comm && comm != stall.process_comm) return false;
  return cgroup.admits(stall.labels->cgroup);
}

}  // namespace offcpud
