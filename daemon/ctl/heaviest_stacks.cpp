// SPDX-License-Identifier: Apache-2.0
#include "ctl/heaviest_stacks.h"

#include <algorithm>
#include <cstddef>

#include "ctl/http_get.h"
#include "ctl/stack_lines.h"
#include "ctl/stack_query.h"
#include "ctl/terminal_text.h"

namespace offcpud {
namespace {

constexpr std::size_t kMostLines = 10;

struct Stacks {
  StackLines lines;
  bool is_usual = false;  // of the last minutes
};

Result<Stacks> stacks_of(const Server& server, const std::string& server_text,
                         const QueryParameters& query) {
  TRY(const auto wanted, query_of_stacks(query));
  TRY(const auto answer, http_get(server, path_of_stacks(wanted), {}, kSnapshotLimits));
  if (answer.status != 200) return refused(server_text, answer);
  auto lines = stack_lines(answer.body);
  if (!lines) return std::move(lines).error().with(server_text);
  if (lines->empty()) {
    return Error("no snapshot of that time has such a wait", ErrorKind::NotFound);
  }
  const bool has_end =
      std::ranges::find(wanted, "to", &QueryParameters::value_type::first) != wanted.end();
  const QueryParameters::value_type last("from", kLastMinutes);
  const bool is_usual = !has_end && std::ranges::find(wanted, last) != wanted.end();
  return Stacks{.lines = *std::move(lines), .is_usual = is_usual};
}

}  // namespace

std::string heaviest_stacks(const Server& server, const std::string& server_text,
                            const QueryParameters& query) {
  const auto stacks = stacks_of(server, server_text, query);
  if (!stacks) return "\nstacks: " + stacks.error().message() + "\n";
  const auto& [lines, is_usual] = *stacks;
  std::string text = std::string("\nstacks of the ") + (is_usual ? "last ten minutes" : "range") +
                     " by the time for which threads waited there, innermost function first:\n";
  for (std::size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) {
    text += terminal_text(lines[i]) + "\n";
  }
  if (lines.size() > kMostLines) {
    text += "and " + std::to_string(lines.size() - kMostLines) +
            " other stacks: offcpuctl flame -o waits.html draws all\n";
  }
  return text;
}

}  // namespace offcpud
