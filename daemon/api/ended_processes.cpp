// SPDX-License-Identifier: Apache-2.0
#include "api/ended_processes.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "pipeline/wait_window.h"

namespace offcpud {
namespace {

using Process = std::pair<std::uint32_t, std::uint64_t>;  // number and start

// Names of the window's processes without a row. Some of their waits may have none.
std::map<Process, std::string_view> names_of(const View& view) {
  std::map<Process, std::string_view> names;
  for (const SiteWaits& waits : view.waits->sites) {
    if (waits.pid != 0 && !waits.comm.empty()) {
      names.try_emplace({waits.pid, waits.process_start_ns}, waits.comm);
    }
  }
  for (const ProcessRow& row : view.processes) names.erase({row.pid, row.start_ns});
  return names;
}

struct Group {
  ForSums waits;
  std::set<Process> processes;
};

}  // namespace

std::vector<EndedProcesses> ended_processes(const View& view) {
  if (!view.waits) return {};
  const auto names = names_of(view);
  std::map<std::pair<std::string_view, std::string_view>, Group> groups;  // by cgroup and name
  for (const SiteWaits& waits : view.waits->sites) {
    const Process process(waits.pid, waits.process_start_ns);
    const auto name = names.find(process);
    if (name == names.end()) continue;
    Group& group = groups[{waits.cgroup, name->second}];
    group.waits.add(waits, true);
    group.processes.insert(process);
  }
  std::vector<EndedProcesses> ended;
  for (auto& [key, group] : groups) {
    if (group.waits.actionable().ns <= 0 && group.waits.unknown_ns() <= 0) continue;
    EndedProcesses& all = ended.emplace_back();
    all.row.comm = key.second;
    all.row.labels =
        std::make_shared<const SubjectLabels>(labels_of_cgroup(std::string(key.first)));
    all.waits = std::move(group.waits);
    all.count = group.processes.size();
  }
  return ended;
}

}  // namespace offcpud
