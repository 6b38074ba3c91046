// SPDX-License-Identifier: Apache-2.0
#include "golang/goroutine_groups.h"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

namespace offcpud {
namespace {

// Two looks could take two waits at one place for one, if the goroutine ran 256 times in between,
// or any multiple; three looks hardly ever do.
constexpr std::uint32_t kCertain = 3;

// Times of collections of garbage, as far as some goroutine says them, ascending.
std::vector<std::uint64_t> collections_of(const GoroutineLook& look) {
  std::vector<std::uint64_t> times;
  for (const WaitingGoroutine& goroutine : look.waiting) {
    if (goroutine.since_ns < ns_of(look.at)) times.push_back(goroutine.since_ns);
  }
  std::ranges::sort(times);
  return times;
}

// A goroutine that says one collection was seen to wait by the next one. Which other ones there
// were is not known, but the next that anybody says was not before it.
std::optional<std::chrono::nanoseconds> age_of(const WaitingGoroutine& goroutine,
                                               std::span<const std::uint64_t> collections,
                                               MonotonicTime now) {
  std::optional<std::chrono::nanoseconds> age;
  if (goroutine.sightings >= kCertain) age = now - goroutine.seen_since;
  const auto next = std::ranges::upper_bound(collections, goroutine.since_ns);
  if (goroutine.since_ns == 0 || next == collections.end()) return age;
  return std::max(age, std::optional(std::chrono::nanoseconds(ns_of(now) - *next)));
}

// By the function that the goroutine was started with.
bool is_of_runtime(std::string_view outermost) {
  return outermost.starts_with("runtime.") && outermost != "runtime.main";
}

// A group whose functions are not named yet.
struct Unnamed {
  std::uint32_t stack = 0;
  GoroutineGroup group;
};

std::vector<Unnamed> unnamed_groups(const GoroutineLook& look, const GoroutineReader& reader,
                                    const GoRuntime& runtime, const GoFunctions& functions) {
  std::map<std::pair<std::uint32_t, std::uint8_t>, GoroutineGroup> groups;
  const std::vector<std::uint64_t> collections = collections_of(look);
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
                         is_of_runtime(functions.name(stack.functions.back()));
    }
    if (goroutine.stack == GoroutineReader::kChanged) continue;
    group.longest = std::max(group.longest, age_of(goroutine, collections, look.at));
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
