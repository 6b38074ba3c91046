// SPDX-License-Identifier: Apache-2.0
#include "api/snapshot_query.h"

#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "api/query_parameters.h"
#include "api/time_parameter.h"
#include "config/reason_names.h"
#include "snapshot/stack_id.h"

namespace offcpud {
namespace {

using Path = SnapshotQuery::Path;
using Filter = SnapshotFilter;

Notation<decltype(Filter::reasons)> reasons() {
  return some_of<decltype(Filter::reasons)>(blocked_reason(), kReasonNames);
}

Notation<decltype(Filter::wait_for)> waits_for() {
  return some_of<decltype(Filter::wait_for)>(wait_for_name(), kWaitForNames);
}

template <class To>
Notation<To> whole_number_of(std::string_view unit, std::uint64_t least, std::uint64_t most,
                             To (*convert)(std::uint64_t number)) {
  const auto number = whole_number<std::uint64_t>(least, most);
  const auto parse = [=](std::string_view text) -> Result<To> {
    TRY(const std::uint64_t count, number.parse(text));
    return convert(count);
  };
  return {parse,
          {},
          "a whole number of " + std::string(unit) + " from " + std::to_string(least) + " to " +
              std::to_string(most)};
}

Notation<std::chrono::seconds> length() {
  return whole_number_of<std::chrono::seconds>(
      "seconds", 1, SnapshotQuery::kMostLength.count(),
      [](std::uint64_t number) { return std::chrono::seconds(number); });
}

// Stored in nanoseconds.
Notation<std::uint64_t> microseconds() {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max() / 1'000;
  return whole_number_of<std::uint64_t>("microseconds", 0, kMost,
                                        [](std::uint64_t number) { return number * 1'000; });
}

// The bits TASK_INTERRUPTIBLE and so on. 0 is refused: it means a thread that could have run, and
// such waits are not sampled.
Notation<std::uint32_t> task_states() {
  auto states = whole_number<std::uint32_t>(1, std::numeric_limits<std::uint32_t>::max());
  states.allowed =
      "bits of task states: 1 interruptible, 2 uninterruptible, 4 stopped; waits for a CPU (state "
      "0) have no stacks here, see offcpud_runqueue_wait_seconds";
  return states;
}

Notation<std::uint64_t> stack_id() {
  const auto parse = [](std::string_view text) -> Result<std::uint64_t> {
    const auto id = parse_stack_id(text);
    if (!id) return Error("is no stack");
    return *id;
  };
  return {parse, {}, "the label stack of an exemplar: 16 digits such as 0123456789abcdef"};
}

Notation<SnapshotFormat> format() {
  return choice<SnapshotFormat>({{"json", SnapshotFormat::Json},
                                 {"folded", SnapshotFormat::Folded},
                                 {"offwake", SnapshotFormat::OffWake},
                                 {"pprof", SnapshotFormat::Pprof}});
}

Notation<bool> sums() {
  return choice<bool>({{"for", true}}, "for");
}

// `Side` is Filter::Frames or Filter::Threads.
template <class Side>
Notation<Side> side() {
  return choice<Side>({{"all", Side::All}, {"user", Side::User}, {"kernel", Side::Kernel}});
}

Notation<Normalize> normalize() {
  return choice<Normalize>({{"true", Normalize::ToLater}, {"false", Normalize::No}});
}

std::vector<Setting<SnapshotQuery>> parameters_of(Path path, WallTime now) {
  using Query = SnapshotQuery;
  std::vector<Setting<Query>> table;
  const auto add = [&](bool known, std::string_view name, const auto& notation, auto... members) {
    if (known) table.push_back(parameter<Query>(name, member(members...), notation));
  };
  const bool profile = path == Path::Profile;
  const bool kept = !profile;
  const bool stacks = path != Path::List;
  const bool difference = path == Path::Difference;
  const auto time = time_before(now);
  const auto number = any_number<std::uint32_t>();
  const auto sequence = any_number<std::uint64_t>();
  add(kept, "from", time, &Query::range, &SnapshotRange::from);
  add(kept, "to", time, &Query::range, &SnapshotRange::to);
  add(true, "cgroup", cgroup_filter(), &Query::filter, &Filter::cgroup);
  add(true, "comm", some_text(), &Query::filter, &Filter::comm);
  add(true, "pid", number, &Query::filter, &Filter::pid);
  add(true, "reason", reasons(), &Query::filter, &Filter::reasons);
  add(true, "for", waits_for(), &Query::filter, &Filter::wait_for);
  add(true, "site", some_text(), &Query::filter, &Filter::site);
  add(true, "idle", flag(), &Query::filter, &Filter::idle);
  add(kept, "stack", stack_id(), &Query::filter, &Filter::stack);
  add(true, "frame", some_text(), &Query::filter, &Filter::frame);
  add(true, "threads", side<Filter::Threads>(), &Query::filter, &Filter::threads);
  add(profile, "tid", number, &Query::capture, &BlockFilter::tid);
  add(profile, "min_us", microseconds(), &Query::capture, &BlockFilter::min_ns);
  add(profile, "max_us", microseconds(), &Query::capture, &BlockFilter::max_ns);
  add(profile, "state", task_states(), &Query::capture, &BlockFilter::task_state);
  add(stacks, "frames", side<Filter::Frames>(), &Query::filter, &Filter::frames);
  add(path == Path::List, "by", sums(), &Query::by_for);
  add(stacks, "format", format(), &Query::format);
  add(stacks, "annotate", flag(), &Query::annotate_kernel);
  add(stacks && kept, "sequence", sequence, &Query::range, &SnapshotRange::sequence);
  add(difference, "base_from", time, &Query::base, &SnapshotRange::from);
  add(difference, "base_to", time, &Query::base, &SnapshotRange::to);
  add(difference, "base_sequence", sequence, &Query::base, &SnapshotRange::sequence);
  add(difference, "normalize", normalize(), &Query::normalize);
  add(profile, "seconds", length(), &Query::length);
  return table;
}

}  // namespace

Result<SnapshotQuery> SnapshotQuery::parse(
    Path path, const std::multimap<std::string, std::string>& parameters, WallTime now) {
  SnapshotQuery query;
  if (path != Path::List) query.range.from = now - kDefaultRange;
  if (path == Path::Profile) query.format = SnapshotFormat::Pprof;
  TRY_VOID(set_parameters(query, parameters_of(path, now), parameters));
  TRY_VOID(check_times(query.range.from, query.range.to, ""));
  if (path == Path::Profile) {
    // A profile selects threads when it samples; kept snapshots know kernel threads by stack only.
    const Filter::Threads threads = std::exchange(query.filter.threads, Filter::Threads::All);
    query.capture.user_threads = threads != Filter::Threads::Kernel;
    query.capture.kernel_threads = threads != Filter::Threads::User;
  }
  query.capture.pid = query.filter.pid;
  query.capture.kinds = static_cast<std::uint32_t>(query.filter.kinds()) & BlockFilter::kAllKinds;
  if (query.capture.min_ns > query.capture.max_ns) {
    return usage_error("parameter min_us is larger than max_us; no block is that long");
  }
  if (path == Path::Difference) {
    const bool has_base = parameters.contains("base_from") || parameters.contains("base_sequence");
    if (!has_base) {
      return usage_error("parameter base_from is missing; use " + std::string(kAllowedTimes) +
                         ", or base_sequence");
    }
    // The earlier range ends where the later one begins, unless the request says otherwise.
    const bool ends = parameters.contains("base_to") || parameters.contains("base_sequence");
    if (!ends && !query.range.sequence) query.base.to = query.range.from;
    TRY_VOID(check_times(query.base.from, query.base.to, "base_"));
  }
  return query;
}

}  // namespace offcpud
