// SPDX-License-Identifier: Apache-2.0
#include "api/snapshot_query.h"

#include <limits>
#include <string_view>

#include "api/query_parameters.h"
#include "api/time_parameter.h"
#include "base/hist_kind.h"
#include "snapshot/stack_id.h"

namespace offcpud {
namespace {

using Path = SnapshotQuery::Path;
using Filter = SnapshotFilter;

struct Setting {
  SnapshotQuery& query;
  std::string_view name;
  const std::string& value;
  WallTime now;
};

Error bad_value(const Setting& setting, const std::string& allowed) {
  return offcpud::bad_value(setting.name, setting.value, allowed);
}

Status set_time(const Setting& setting, WallTime& time) {
  const auto parsed = parse_time(setting.value, setting.now);
  if (!parsed) return bad_value(setting, kAllowedTimes);
  time = *parsed;
  return {};
}

template <class Number>
Status set_number(const Setting& setting, std::optional<Number>& number) {
  return offcpud::set_number(number.emplace(), setting.name, setting.value);
}

Status set_text(const Setting& setting, std::string& text) {
  return offcpud::set_text(text, setting.name, setting.value);
}

// One or several, separated by commas.
Status set_reasons(const Setting& setting) {
  auto& admitted = setting.query.filter.reasons;
  admitted.reset();
  std::string_view rest = setting.value;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    std::size_t kind = 0;
    while (kind < OFFCPUD_BLOCKED_KINDS && kHistKindNames[kind] != word) ++kind;
    if (kind == OFFCPUD_BLOCKED_KINDS) {
      return bad_value(setting, "some of " + reason_names() + ", separated by commas");
    }
    admitted.set(kind);
    more = comma != std::string_view::npos;
    rest.remove_prefix(more ? comma + 1 : rest.size());
  }
  return {};
}

template <class Value>
struct Choice {
  std::string_view word;
  Value value;
};

template <class Value, std::size_t N>
Status set_choice(const Setting& setting, Value& target, const Choice<Value> (&choices)[N]) {
  std::string words;
  for (const Choice<Value>& choice : choices) {
    if (choice.word == setting.value) {
      target = choice.value;
      return {};
    }
    words.append(words.empty() ? "" : ", ").append(choice.word);
  }
  return bad_value(setting, "one of " + words);
}

constexpr Choice<SnapshotFormat> kFormats[] = {{"json", SnapshotFormat::Json},
                                               {"folded", SnapshotFormat::Folded},
                                               {"offwake", SnapshotFormat::OffWake},
                                               {"pprof", SnapshotFormat::Pprof}};
constexpr Choice<Filter::Frames> kFrames[] = {{"all", Filter::Frames::All},
                                              {"user", Filter::Frames::User},
                                              {"kernel", Filter::Frames::Kernel}};
constexpr Choice<Filter::Threads> kThreads[] = {{"all", Filter::Threads::All},
                                                {"user", Filter::Threads::User},
                                                {"kernel", Filter::Threads::Kernel}};
constexpr Choice<bool> kFlag[] = {{"true", true}, {"false", false}};
constexpr Choice<Normalize> kNormalize[] = {{"true", Normalize::ToLater}, {"false", Normalize::No}};

Status set_length(const Setting& setting) {
  std::optional<std::uint32_t> seconds;
  const auto status = set_number(setting, seconds);
  if (!status || *seconds == 0 || *seconds > SnapshotQuery::kMostLength.count()) {
    return bad_value(setting, "a whole number of seconds from 1 to " +
                                  std::to_string(SnapshotQuery::kMostLength.count()));
  }
  setting.query.length = std::chrono::seconds(*seconds);
  return {};
}

constexpr std::uint64_t kMicrosecond = 1'000;

Status set_microseconds(const Setting& setting, std::uint64_t& ns) {
  std::optional<std::uint64_t> us;
  TRY_VOID(set_number(setting, us));
  if (*us > std::numeric_limits<std::uint64_t>::max() / kMicrosecond) {
    return bad_value(setting, "a smaller number of microseconds");
  }
  ns = *us * kMicrosecond;
  return {};
}

// The bits of TASK_INTERRUPTIBLE and so on. 0 stands for threads that could have run, whose waits
// are none.
Status set_state(const Setting& setting) {
  std::optional<std::uint32_t> state;
  TRY_VOID(set_number(setting, state));
  if (*state == 0) {
    return bad_value(
        setting,
        "bits of task states: 1 interruptible, 2 uninterruptible, 4 stopped; waits for a "
        "CPU (state 0) have no stacks here, see offcpud_runqueue_wait_seconds");
  }
  setting.query.capture.task_state = state;
  return {};
}

// In a profile the thread itself says what it is; in what is kept, the stack.
Status set_captured_threads(const Setting& setting) {
  Filter::Threads which = Filter::Threads::All;
  TRY_VOID(set_choice(setting, which, kThreads));
  setting.query.capture.user_threads = which != Filter::Threads::Kernel;
  setting.query.capture.kernel_threads = which != Filter::Threads::User;
  return {};
}

Status set_stack(const Setting& setting) {
  const auto id = parse_stack_id(setting.value);
  if (!id) {
    return bad_value(setting, "the label stack of an exemplar: 16 digits such as 0123456789abcdef");
  }
  setting.query.filter.stack = id;
  return {};
}

constexpr unsigned operator|(Path a, Path b) {
  return static_cast<unsigned>(a) | static_cast<unsigned>(b);
}
constexpr unsigned operator|(unsigned a, Path b) {
  return a | static_cast<unsigned>(b);
}
constexpr unsigned kKept = Path::List | Path::Merge | Path::Difference;
constexpr unsigned kEvery = kKept | Path::Profile;
constexpr unsigned kStacks = Path::Merge | Path::Difference;
constexpr unsigned kProfile = static_cast<unsigned>(Path::Profile);
constexpr unsigned kTwoRanges = static_cast<unsigned>(Path::Difference);

struct Parameter {
  std::string_view name;
  unsigned paths;  // which know it
  Status (*set)(const Setting& setting);
};

constexpr Parameter kParameters[] = {
    {"from", kKept, [](const Setting& s) { return set_time(s, s.query.range.from); }},
    {"to", kKept, [](const Setting& s) { return set_time(s, s.query.range.to); }},
    {"cgroup", kEvery, [](const Setting& s) { return set_cgroup(s.query.filter.cgroup, s.value); }},
    {"comm", kEvery, [](const Setting& s) { return set_text(s, s.query.filter.comm); }},
    {"pid", kEvery, [](const Setting& s) { return set_number(s, s.query.filter.pid); }},
    {"reason", kEvery, set_reasons},
    {"idle", kEvery, [](const Setting& s) { return set_choice(s, s.query.filter.idle, kFlag); }},
    {"stack", kKept, set_stack},
    {"frame", kEvery, [](const Setting& s) { return set_text(s, s.query.filter.frame); }},
    {"threads", kKept,
     [](const Setting& s) { return set_choice(s, s.query.filter.threads, kThreads); }},
    {"threads", kProfile, set_captured_threads},
    {"tid", kProfile, [](const Setting& s) { return set_number(s, s.query.capture.tid); }},
    {"min_us", kProfile,
     [](const Setting& s) { return set_microseconds(s, s.query.capture.min_ns); }},
    {"max_us", kProfile,
     [](const Setting& s) { return set_microseconds(s, s.query.capture.max_ns); }},
    {"state", kProfile, set_state},
    {"frames", kStacks | Path::Profile,
     [](const Setting& s) { return set_choice(s, s.query.filter.frames, kFrames); }},
    {"format", kStacks | Path::Profile,
     [](const Setting& s) { return set_choice(s, s.query.format, kFormats); }},
    {"annotate", kStacks | Path::Profile,
     [](const Setting& s) { return set_choice(s, s.query.annotate_kernel, kFlag); }},
    {"sequence", kStacks, [](const Setting& s) { return set_number(s, s.query.range.sequence); }},
    {"base_from", kTwoRanges, [](const Setting& s) { return set_time(s, s.query.base.from); }},
    {"base_to", kTwoRanges, [](const Setting& s) { return set_time(s, s.query.base.to); }},
    {"base_sequence", kTwoRanges,
     [](const Setting& s) { return set_number(s, s.query.base.sequence); }},
    {"normalize", kTwoRanges,
     [](const Setting& s) { return set_choice(s, s.query.normalize, kNormalize); }},
    {"seconds", kProfile, set_length},
};

bool knows(Path path, const Parameter& parameter) {
  return (parameter.paths & static_cast<unsigned>(path)) != 0;
}

std::string parameter_names(Path path) {
  std::string names;
  for (const Parameter& parameter : kParameters) {
    if (!knows(path, parameter)) continue;
    names.append(names.empty() ? "" : ", ").append(parameter.name);
  }
  return names;
}

Status set(Path path, const Setting& setting) {
  for (const Parameter& parameter : kParameters) {
    if (parameter.name == setting.name && knows(path, parameter)) return parameter.set(setting);
  }
  return unknown_parameter(setting.name, parameter_names(path));
}

Status check_range(const SnapshotRange& range, const std::string& prefix) {
  if (range.from < range.to) return {};
  return refusal("parameter " + prefix + "from is not before " + prefix + "to; use an earlier " +
                 prefix + "from");
}

}  // namespace

Result<SnapshotQuery> SnapshotQuery::parse(
    Path path, const std::multimap<std::string, std::string>& parameters, WallTime now) {
  SnapshotQuery query;
  if (path != Path::List) query.range.from = now - kDefaultRange;
  if (path == Path::Profile) query.format = SnapshotFormat::Pprof;
  TRY_VOID(set_each(parameters, [&](const std::string& name, const std::string& value) {
    return set(path, {query, name, value, now});
  }));
  TRY_VOID(check_range(query.range, ""));
  query.capture.pid = query.filter.pid;
  query.capture.kinds =
      static_cast<std::uint32_t>(query.filter.reasons.to_ulong()) & BlockFilter::kAllKinds;
  if (!query.filter.idle) query.capture.kinds &= ~idle_prone_kinds();
  if (query.capture.min_ns > query.capture.max_ns) {
    return refusal("parameter min_us is larger than max_us; no block is that long");
  }
  if (path == Path::Difference) {
    const bool has_base = parameters.contains("base_from") || parameters.contains("base_sequence");
    if (!has_base) {
      return refusal("parameter base_from is missing; use " + std::string(kAllowedTimes) +
                     ", or base_sequence");
    }
    // Up to the later range, and not into it.
    const bool ends = parameters.contains("base_to") || parameters.contains("base_sequence");
    if (!ends && !query.range.sequence) query.base.to = query.range.from;
    TRY_VOID(check_range(query.base, "base_"));
  }
  return query;
}

}  // namespace offcpud
