// SPDX-License-Identifier: Apache-2.0
#include "cli/top_request.h"

#include "cli/query_path.h"

namespace offcpud {

std::string TopRequest::path() const {
  QueryParameters parameters;
  const auto add = [&](const char* name, std::string value) {
    parameters.emplace_back(name, std::move(value));
  };
  if (threads) add("threads", "true");
  if (pinned && threads) add("pinned", "true");
  if (cpu && threads) add("cpu", std::to_string(*cpu));
  if (pid) add("pid", std::to_string(*pid));
  if (!cgroup.empty()) add("cgroup", cgroup);
  if (!filter.empty()) add("filter", filter);
  if (!wait_for.empty()) add("for", wait_for);
  if (!sort.empty() || by_reason) add("sort", sort.empty() ? "actionable" : sort);
  if (reverse) add("reverse", "true");
  if (limit) add("limit", std::to_string(*limit));
  return query_path("/api/v1/top", parameters);
}

}  // namespace offcpud
