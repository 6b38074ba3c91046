// SPDX-License-Identifier: Apache-2.0
#include "goroutines/goroutine_sampler.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace offcpud {
namespace {

using std::chrono::nanoseconds;

// A process that could not be read, or found no room, is tried again after this time.
constexpr std::chrono::seconds kAgain{60};
// The same for one whose program is gone: it may have begun another one under the same name.
constexpr std::chrono::seconds kAfterEnd{10};
constexpr std::chrono::minutes kAfterRefusal{10};
constexpr std::chrono::seconds kLongestRest{1};
// The time of one look. In less, it reads one part of the goroutines, whatever that takes.
constexpr nanoseconds kLeastTime{500'000}, kMostTime{20'000'000};

// The rest of a process is summed by what it is for.
std::vector<GoroutineWaits> longest_of(std::vector<GoroutineWaits> waits) {
  std::ranges::stable_sort(waits, {}, [](const GoroutineWaits& each) {
    return std::tuple(is_idle(each.wait_for), -each.ns);
  });
  if (waits.size() <= GoroutineWindow::kMostRows) return waits;
  std::map<std::tuple<std::uint32_t, std::uint64_t, WaitFor>, GoroutineWaits> rest;
  const auto first = waits.begin() + GoroutineWindow::kMostRows;
  for (auto each = first; each != waits.end(); ++each) {
    GoroutineWaits& sum = rest[{each->pid, each->process_start_ns, each->wait_for}];
    const double ns = sum.ns + each->ns, now = sum.now + each->now;
    const std::uint64_t longest_ns = std::max(sum.longest_ns, each->longest_ns);
    sum = std::move(*each);
    sum.site = sum.reason = sum.function = {};
    sum.ns = ns;
    sum.now = now;
    sum.longest_ns = longest_ns;
  }
  waits.erase(first, waits.end());
  for (auto& [key, sum] : rest) waits.push_back(std::move(sum));
  return waits;
}

}  // namespace

GoroutineSampler::GoroutineSampler(const Sources& sources, Reports reports,
                                   const GoroutineOptions& options)
    : sources_(sources),
      reports_(std::move(reports)),
      options_(options),
      budget_(sources.clock.now()),
      rules_(sources.sites.rules()),
      classifier_(rules_),
      processes_([this](Process& process) { keep(process); }),
      window_began_(sources.clock.now()),
      random_(static_cast<unsigned>(ns_of(window_began_))) {
  budget_.set(options.cpu_budget, window_began_);
}

void GoroutineSampler::set_options(const GoroutineOptions& options) {
  options_ = options;
  budget_.set(options.cpu_budget, sources_.clock.now());
}

MonotonicTime GoroutineSampler::work() {
  const MonotonicTime now = sources_.clock.now();
  if (!options_.enabled) {
    if (processes_.programs() > 0) end_window(now);
    processes_.forget_all();
    view_.reset();
    window_began_ = now;
    return now + kLongestRest;
  }
  follow(now);
  if (now - window_began_ >= kWindow) end_window(now);
  if (const MonotonicTime may = budget_.next(now); may > now) {
    return std::min(may, now + kLongestRest);
  }
  const nanoseconds before = sources_.cpu();
  const bool did_one = do_one(now);
  const nanoseconds spent = std::max(sources_.cpu() - before, nanoseconds(0));
  budget_.pay(spent);
  totals_.cpu += spent;
  if (did_one) return now;
  const Process* const first = processes_.first_due();
  const MonotonicTime rest = std::min(now + kLongestRest, window_began_ + kWindow);
  return first == nullptr ? rest : std::min(rest, first->due);
}

void GoroutineSampler::follow(MonotonicTime now) {
  if (auto rules = sources_.sites.rules(); rules != rules_) {
    rules_ = std::move(rules);
    classifier_.use(rules_);
    processes_.for_each_watched([](Process& process) { process.program->forget_classes(); });
  }
  auto view = sources_.view();
  if (!view || view == view_) return;
  view_ = std::move(view);
  processes_.follow(*view_, now);
}

// Programs that are watched, and processes that may run others, take turns.
bool GoroutineSampler::do_one(MonotonicTime now) {
  tries_next_ = !tries_next_;
  Process* const first = processes_.first_due();
  const bool is_due = first != nullptr && first->due <= now;
  if (tries_next_ || !is_due) {
    if (Process* const process = processes_.next_to_try()) {
      try_to_watch(*process);
      return true;
    }
  }
  if (is_due) look_at(*first, now);
  return is_due;
}

void GoroutineSampler::try_to_watch(Process& process) {
  const MonotonicTime now = sources_.clock.now();
  process.tried = now;
  auto program = GoProgram::open({.processes = sources_.processes,
                                  .files = sources_.files,
                                  .memory = sources_.memory,
                                  .shared = &shared_,
                                  .functions = WatchedProgram::kFunctions},
                                 process.pid);
  if (!program) {
    switch (program.error().kind()) {
      case ErrorKind::NotFound:
        return;  // no Go
      case ErrorKind::Unsupported:
        return refuse(process, GoroutineFailure::Version, program.error().message());
      default:
        return refuse(process, GoroutineFailure::Unreadable, {});
    }
  }
  const ShareOwner owner = sources_.processes.user_of(process.pid);
  if (shared_.table_bytes() > kMostTableBytes || !processes_.make_room(process, owner, now)) {
    return refuse(process, GoroutineFailure::Room, {});
  }
  processes_.watch(process,
                   std::make_unique<WatchedProgram>(*std::move(program), sources_.memory,
                                                    sources_.clock, process.pid),
                   owner, now);
}

void GoroutineSampler::refuse(Process& process, GoroutineFailure failure,
                              const std::string& sentence) {
  ++totals_.failures[static_cast<std::size_t>(failure)];
  const bool may_change =
      failure == GoroutineFailure::Unreadable || failure == GoroutineFailure::Room;
  const nanoseconds rest = may_change ? nanoseconds(kAgain) : nanoseconds(kAfterRefusal);
  processes_.unwatch(process, sources_.clock.now() + rest);
  if (!sentence.empty() && reports_.refused) reports_.refused(sentence);
}

void GoroutineSampler::look_at(Process& process, MonotonicTime now) {
  const auto look = process.program->look(time_of_a_look(), classifier_);
  if (!look && process.program->failure() == WatchedProgram::Failure::Gone) {
    return processes_.unwatch(process, now + kAfterEnd);
  }
  if (!look) {
    return refuse(process, GoroutineFailure::Stacks,
                  "process " + std::to_string(process.pid) + " (" + process.program->name() +
                      ") has goroutines whose stacks do not lead to where they begin");
  }
  ++totals_.looks;
  totals_.goroutines += look->goroutines;
  totals_.left_out += look->left_out;
  const double intervals = in_seconds(look->since) / in_seconds(options_.interval);
  // Between two random moments in neighbouring intervals is less than two.
  if (intervals >= 2)
    totals_.skipped_looks += static_cast<std::uint64_t>(std::floor(intervals - 1));
  process.due = next_due(process, now);
}

// Programs share what may be spent within an interval.
nanoseconds GoroutineSampler::time_of_a_look() const {
  const double share = in_seconds(options_.cpu_budget) * in_seconds(options_.interval) /
                       static_cast<double>(std::max<std::size_t>(processes_.programs(), 1));
  return std::clamp(std::chrono::duration_cast<nanoseconds>(std::chrono::duration<double>(share)),
                    kLeastTime, kMostTime);
}

// A random moment of the next interval. Intervals of programs begin at different times.
MonotonicTime GoroutineSampler::next_due(const Process& process, MonotonicTime now) {
  const auto length = static_cast<std::uint64_t>(nanoseconds(options_.interval).count());
  const std::uint64_t shift = process.start_ns % length;
  const std::uint64_t number = (ns_of(now) + shift) / length + 1;
  const std::uint64_t within = std::uniform_int_distribution<std::uint64_t>(0, length - 1)(random_);
  return MonotonicTime(std::chrono::duration_cast<MonotonicTime::duration>(
      nanoseconds(number * length - shift + within)));
}

void GoroutineSampler::keep(Process& process) {
  const std::size_t before = waits_.size();
  process.program->take(waits_);
  for (std::size_t i = before; i < waits_.size(); ++i) {
    waits_[i].pid = process.pid;
    waits_[i].process_start_ns = process.start_ns;
    waits_[i].cgroup = process.labels->cgroup;
  }
  // Those of processes that end quickly, one after the other.
  if (waits_.size() > 2 * GoroutineWindow::kMostRows) waits_ = longest_of(std::move(waits_));
}

void GoroutineSampler::end_window(MonotonicTime now) {
  processes_.for_each_watched([this](Process& process) { keep(process); });
  auto window = std::make_shared<GoroutineWindow>();
  window->begin = std::exchange(window_began_, now);
  window->end = now;
  window->waits = longest_of(std::exchange(waits_, {}));
  totals_.programs = processes_.programs();
  sources_.files.refresh();
  if (reports_.totals) reports_.totals(totals_);
  if (reports_.window && !window->waits.empty()) reports_.window(std::move(window));
}

}  // namespace offcpud
