// SPDX-License-Identifier: Apache-2.0
#include "api/top_query.h"

#include <utility>
#include <vector>

#include "api/query_parameters.h"

namespace offcpud {
namespace {

enum class SortOf { Both, Processes, Threads };

constexpr struct {
  std::string_view name;
  TopSort sort;
  SortOf of;
} kSorts[] = {{"waiting", TopSort::Waiting, SortOf::Both},
              {"unknown", TopSort::Unknown, SortOf::Processes},
              {"idle", TopSort::Idle, SortOf::Processes},
              {"actionable", TopSort::Actionable, SortOf::Both},
              {"blocked", TopSort::Blocked, SortOf::Both},
              {"runqueue", TopSort::Runqueue, SortOf::Both},
              {"running", TopSort::Running, SortOf::Both},
              {"oldest", TopSort::Oldest, SortOf::Both},
              {"ended", TopSort::Ended, SortOf::Processes},
              {"p50", TopSort::P50, SortOf::Processes},
              {"p99", TopSort::P99, SortOf::Processes},
              {"max", TopSort::Max, SortOf::Processes},
              {"threads", TopSort::Threads, SortOf::Processes},
              {"kept_off", TopSort::KeptOff, SortOf::Threads},
              {"longest", TopSort::Longest, SortOf::Threads},
              {"tid", TopSort::Tid, SortOf::Threads},
              {"cpu", TopSort::Cpu, SortOf::Threads},
              {"pid", TopSort::Pid, SortOf::Both},
              {"comm", TopSort::Comm, SortOf::Both}};

Notation<TopSort> sort_of(bool threads) {
  std::vector<NamedValue<TopSort>> sorts;
  for (const auto& each : kSorts) {
    if (each.of == (threads ? SortOf::Processes : SortOf::Threads)) continue;
    sorts.push_back({each.name, each.sort});
  }
  const std::string names = enumeration(names_of(sorts));
  return choice(std::move(sorts), names + (threads ? " (of threads)" : ""));
}

std::vector<Setting<TopQuery>> parameters_of_top(bool threads) {
  return {
      parameter<TopQuery>("pid", member(&TopQuery::pid), any_number<std::uint32_t>()),
      parameter<TopQuery>("comm", member(&TopQuery::comm), some_text()),
      parameter<TopQuery>("cgroup", member(&TopQuery::cgroup), cgroup_filter()),
      parameter<TopQuery>("filter", member(&TopQuery::filter), some_text()),
      parameter<TopQuery>("for", member(&TopQuery::wait_for), wait_for_name()),
      parameter<TopQuery>("threads", member(&TopQuery::threads), flag()),
      parameter<TopQuery>("cpu", member(&TopQuery::cpu), any_number<std::uint32_t>()),
      parameter<TopQuery>("pinned", member(&TopQuery::pinned), flag()),
      parameter<TopQuery>("reverse", member(&TopQuery::reverse), flag()),
      parameter<TopQuery>("limit", member(&TopQuery::limit), any_number<std::size_t>()),
      parameter<TopQuery>("sort", member(&TopQuery::sort), sort_of(threads)),
  };
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

Result<TopQuery> TopQuery::parse(const std::multimap<std::string, std::string>& parameters) {
  const auto threads = parameters.find("threads");
  const bool of_threads = threads != parameters.end() && threads->second == "true";
  TopQuery query;
  TRY_VOID(set_parameters(query, parameters_of_top(of_threads), parameters));
  if (!query.threads && (query.cpu || query.pinned)) {
    return usage_error("parameters cpu and pinned are about threads; add threads=true");
  }
  return query;
}

bool TopQuery::admits(std::uint32_t of_pid, std::string_view of_comm, std::string_view process_comm,
                      std::string_view of_cgroup) const {
  if (pid && *pid != of_pid) return false;
  if (!contains(of_comm, comm) && !contains(process_comm, comm)) return false;
  if (!cgroup.admits(of_cgroup)) return false;
  return contains(of_comm, filter) || contains(process_comm, filter) || contains(of_cgroup, filter);
}

}  // namespace offcpud
