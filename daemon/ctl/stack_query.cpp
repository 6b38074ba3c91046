// SPDX-License-Identifier: Apache-2.0
#include "ctl/stack_query.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "base/wait_for.h"

namespace offcpud {
namespace {

constexpr std::array<std::string_view, 6> kKept = {"cgroup", "pid", "for", "site", "from", "to"};

bool has(const QueryParameters& query, std::string_view name) {
  return std::ranges::find(query, name, &QueryParameters::value_type::first) != query.end();
}

// Without "cpu" and "throttled": blocks alone have stacks.
std::string of_blocks(const std::string& names) {
  std::string kept;
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');) {
    if (name == "cpu" || name == "throttled") continue;
    kept.append(kept.empty() ? "" : ",").append(name);
  }
  return kept;
}

}  // namespace

Result<QueryParameters> query_of_stacks(const QueryParameters& query) {
  QueryParameters kept;
  if (!has(query, "from")) {
    if (has(query, "to")) return Error("say with --from where the range begins", ErrorKind::Usage);
    kept.emplace_back("from", kLastMinutes);
  }
  for (const auto& [name, value] : query) {
    if (std::ranges::find(kKept, name) == kKept.end()) continue;
    kept.emplace_back(name, name == "for" ? of_blocks(value) : value);
    if (kept.back().second.empty()) return Error("waits for a CPU have none", ErrorKind::Usage);
  }
  if (!has(query, "for") && !has(query, "idle")) kept.emplace_back("for", names_of_not_idle());
  return kept;
}

std::string path_of_stacks(const QueryParameters& query) {
  return query_path("/api/v1/snapshots/merge", query);
}

}  // namespace offcpud
