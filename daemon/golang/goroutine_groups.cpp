// SPDX-License-Identifier: Apache-2.0
#include "golang/goroutine_groups.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "golang/goroutine_ages.h"

namespace offcpud {
namespace {

// A group whose functions are not named yet.
struct Unnamed {
  std::uint32_t stack = 0;
  GoroutineGroup group;
};

std::vector<Unnamed> unnamed_groups(const GoroutineLook& look, const GoroutineReader& reader,
                                    const GoRuntime& runtime, const GoFunctions& functions) {
  std::map<std::pair<std::uint32_t, std::uint8_t>, GoroutineGroup> groups;
  const GoroutineAges ages(look);
  for (const WaitingGoroutine& goroutine : look.waiting) {
    GoroutineGroup& group = groups[{goroutine.stack, goroutine.reason}];
    if (group.number++ == 0) {
      const GoStack& stack = reader.stack(goroutine.stack);
      if (goroutine.reason < runtime.reasons.size()) {
        group.reason = runtime.reasons[goroutine.reason];
      }
      group.end = stack.end;
      group.has_stack = goroutine.stack > GoroutineReader::kLeftOut;
      group.is_runtime = stack.end == GoStack::End::Root && !stack.functions.empty() &&
                         is_of_go_runtime(functions.name(stack.functions.back()));
    }
    group.longest = std::max(group.longest, ages.of(goroutine));
  }
  std::vector<Unnamed> sorted;
  sorted.reserve(groups.size());
  for (auto& [key, group] : groups) sorted.push_back({key.first, std::move(group)});
  std::ranges::stable_sort(sorted, {}, [](const Unnamed& each) {
    return std::tuple(each.group.is_runtime, -static_cast<std::int64_t>(each.group.number));
  });
  return sorted;
}

}  // namespace

GoroutineGroups group_goroutines(const GoroutineLook& look, const GoroutineReader& reader,
                                 const GoRuntime& runtime, const GoFunctions& functions,
                                 std::size_t limit) {
  GoroutineGroups groups;
  std::size_t bytes = 0;
  for (auto& [stack, group] : unnamed_groups(look, reader, runtime, functions)) {
    if (group.is_runtime) groups.of_runtime += group.number;
    const std::vector<std::uint32_t>& frames = reader.stack(stack).functions;
    for (const std::uint32_t function : frames) bytes += functions.name(function).size();
    if (groups.shown.size() == limit || bytes > GoroutineGroups::kMostBytes) {
      ++(group.is_runtime ? groups.of_runtime_left_out : groups.left_out);
      continue;
    }
    for (const std::uint32_t function : frames) {
      group.functions.push_back(functions.name(function));
    }
    groups.shown.push_back(std::move(group));
  }
  return groups;
}

}  // namespace offcpud
