// SPDX-License-Identifier: Apache-2.0
#include "api/why_handler.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/error_response.h"
#include "api/why_answer.h"
#include "api/why_query.h"
#include "api/why_sources.h"
#include "attribution/unit_name.h"
#include "base/clock.h"
#include "pipeline/past_view.h"
#include "pipeline/site_history.h"

namespace offcpud {
namespace {

// The units with a cgroup that the filter admits.
std::vector<std::string> units_of(const View& view, const CgroupFilter& cgroup) {
  std::set<std::string> units;
  for (const SubjectSeries& row : view.subjects) {
    if (cgroup.admits(row.labels->cgroup)) units.insert(unit_name(row.labels->cgroup));
  }
  for (const auto& window : view.site_history) {
    for (const CgroupWaits& waits : window->sites) {
      if (cgroup.admits(*waits.cgroup)) units.insert(unit_name(*waits.cgroup));
    }
  }
  return {units.begin(), units.end()};
}

}  // namespace

Response why_response(const Request& request, const View& now, const IsLiveCgroup& is_live) {
  const auto query = WhyQuery::parse(request.query, now.taken_wall);
  if (!query) return error(400, query.error().message());
  const auto then = query->to ? std::make_optional(view_until(now, *query->to)) : std::nullopt;
  const View& view = then ? *then : now;
  Parameters cgroup;
  if (!query->cgroup.is_all()) cgroup.emplace("cgroup", query->cgroup.text());
  const auto known = check_cgroup(view, cgroup, is_live);
  if (!known) return error(404, known.error().message());

  const ProcessRow* process = nullptr;
  if (query->pid) {
    if (!request.sees_details) {
      return error(403, "this client may not see processes; ask for a unit");
    }
    const auto found = std::ranges::find(view.processes, *query->pid, &ProcessRow::pid);
    if (found == view.processes.end()) {
      return error(404, "there was no process " + std::to_string(*query->pid) +
                            " in the last pass; ask for its unit, or `offcpuctl top` and "
                            "/api/v1/top list processes");
    }
    process = &*found;
  }
  std::vector<std::string> units;
  const bool whole_host = !process && query->cgroup.is_all();
  if (process) {
    units.push_back(process_subject(*process));
  } else if (!whole_host) {
    units = units_of(view, query->cgroup);
  }
  WhyAnswer answer =
      why_answer(why_inputs(view, *query, process, request.sees_details,
                            {.is_live = is_live, .suspended = suspended_time()}),
                 view.taken_wall, units, whole_host, query->limit, request.sees_details);
  answer.asked = query->window;
  answer.goroutines = why_goroutines(view, *query, process, request.sees_details);
  if (query->as_text) return {.content_type = kPlainText, .body = why_text(answer)};
  return {.content_type = kJson, .body = why_json(answer)};
}

}  // namespace offcpud
