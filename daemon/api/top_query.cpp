// SPDX-License-Identifier: Apache-2.0
#include "api/top_query.h"

#include "api/query_parameters.h"

namespace offcpud {
namespace {

enum class SortOf { Both, Processes, Threads };

constexpr struct {
  std::string_view name;
  TopSort sort;
  SortOf of;
} kSorts[] = {{"actionable", TopSort::Actionable, SortOf::Both},
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

bool applies(SortOf of, bool threads) {
  return of == SortOf::Both || (of == SortOf::Threads) == threads;
}

std::string sort_names(bool threads) {
  std::string names;
  for (const auto& each : kSorts) {
    if (applies(each.of, threads)) names.append(names.empty() ? "" : ", ").append(each.name);
  }
  return names;
}

using Value = const std::string&;
constexpr struct {
  std::string_view name;
  Status (*set)(TopQuery& query, Value value);
} kParameters[] = {
    {"pid", [](TopQuery& query, Value v) { return set_number(query.pid.emplace(), "pid", v); }},
    {"comm", [](TopQuery& query, Value v) { return set_text(query.comm, "comm", v); }},
    {"cgroup", [](TopQuery& query, Value v) { return set_cgroup(query.cgroup, v); }},
    {"filter", [](TopQuery& query, Value v) { return set_text(query.filter, "filter", v); }},
    {"threads", [](TopQuery& query, Value v) { return set_flag(query.threads, "threads", v); }},
    {"cpu", [](TopQuery& query, Value v) { return set_number(query.cpu.emplace(), "cpu", v); }},
    {"pinned", [](TopQuery& query, Value v) { return set_flag(query.pinned, "pinned", v); }},
    {"reverse", [](TopQuery& query, Value v) { return set_flag(query.reverse, "reverse", v); }},
    {"limit",
     [](TopQuery& query, Value v) { return set_number(query.limit.emplace(), "limit", v); }},
};

std::string parameter_names() {
  std::string names;
  for (const auto& parameter : kParameters) names.append(parameter.name).append(", ");
  return names + "sort";
}

Status set(TopQuery& query, const std::string& name, const std::string& value) {
  if (name == "sort") return {};  // what it may be depends on the others
  for (const auto& parameter : kParameters) {
    if (parameter.name == name) return parameter.set(query, value);
  }
  return unknown_parameter(name, parameter_names());
}

Status set_sort(TopQuery& query, const std::string& value) {
  for (const auto& each : kSorts) {
    if (each.name != value || !applies(each.of, query.threads)) continue;
    query.sort = each.sort;
    return {};
  }
  return bad_value("sort", value,
                   sort_names(query.threads) + (query.threads ? " (of threads)" : ""));
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

Result<TopQuery> TopQuery::parse(const std::multimap<std::string, std::string>& parameters) {
  TopQuery query;
  TRY_VOID(set_each(parameters, [&](const std::string& name, const std::string& value) {
    return set(query, name, value);
  }));
  const auto sort = parameters.find("sort");
  if (sort != parameters.end()) TRY_VOID(set_sort(query, sort->second));
  if (!query.threads && (query.cpu || query.pinned)) {
    return refusal("parameters cpu and pinned are about threads; add threads=true");
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
