// SPDX-License-Identifier: Apache-2.0
#include "ctl/heaviest_stacks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/wait_for.h"
#include "ctl/http_get.h"
#include "ctl/stack_lines.h"
#include "ctl/terminal_text.h"

namespace offcpud {
namespace {

constexpr std::size_t kMostLines = 10;
constexpr const char* kLastMinutes = "-10min";
constexpr std::array<std::string_view, 6> kKept = {"cgroup", "pid", "for", "site", "from", "to"};

bool has(const QueryParameters& query, std::string_view name) {
  return std::ranges::any_of(query, [&](const auto& each) { return each.first == name; });
}

bool has(const QueryParameters& query, std::string_view name, std::string_view value) {
  return std::ranges::any_of(
      query, [&](const auto& each) { return each.first == name && each.second == value; });
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

Result<StackLines> lines_of(const Server& server, const std::string& server_text,
                            const QueryParameters& query) {
  TRY(const auto answer,
      http_get(server, query_path("/api/v1/snapshots/merge", query), {}, kSnapshotLimits));
  if (answer.status != 200) return refused(server_text, answer);
  auto lines = stack_lines(answer.body);
  if (!lines) return std::move(lines).error().with(server_text);
  return lines;
}

}  // namespace

QueryParameters query_of_stacks(const QueryParameters& query) {
  QueryParameters kept;
  for (const auto& [name, value] : query) {
    if (std::ranges::find(kKept, name) == kKept.end()) continue;
    kept.emplace_back(name, name == "for" ? of_blocks(value) : value);
  }
  if (!has(query, "from") && !has(query, "to")) kept.emplace_back("from", kLastMinutes);
  if (!has(query, "for") && !has(query, "idle")) kept.emplace_back("for", names_of_not_idle());
  return kept;
}

std::string heaviest_stacks(const Server& server, const std::string& server_text,
                            const QueryParameters& query) {
  if (has(query, "for", "")) return "\nstacks: waits for a CPU have none\n";
  if (!has(query, "from")) return "\nstacks: say with --from where the range begins\n";
  const auto lines = lines_of(server, server_text, query);
  if (!lines) return "\nstacks: " + lines.error().message() + "\n";
  if (lines->empty()) return "\nstacks: no snapshot of that time has such a wait\n";
  const bool is_usual = has(query, "from", kLastMinutes) && !has(query, "to");
  std::string text = std::string("\nstacks of the ") + (is_usual ? "last ten minutes" : "range") +
                     " by the time for which threads waited there, innermost function first:\n";
  for (std::size_t i = 0; i < std::min(lines->size(), kMostLines); ++i) {
    text += terminal_text((*lines)[i]) + "\n";
  }
  if (lines->size() > kMostLines) {
    text += "and " + std::to_string(lines->size() - kMostLines) +
            " other stacks: offcpuctl flame -o waits.html draws all\n";
  }
  return text;
}

}  // namespace offcpud
