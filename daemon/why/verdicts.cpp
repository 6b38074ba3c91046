// SPDX-License-Identifier: Apache-2.0
#include "why/verdicts.h"

#include <algorithm>

#include "base/amount_text.h"

namespace offcpud {
namespace {

using Does = WhyHop::Does;
using Kind = Cause::Kind;

constexpr double kLeastThreads = 0.05;
constexpr double kOwnVerdict = 2;  // times as much as the path that passes through

// "store-app.service (python3, pid 812)"
std::string who(const WhyHop& hop) {
  std::string more = hop.process;
  if (hop.pid != 0) more += (more.empty() ? "pid " : ", pid ") + std::to_string(hop.pid);
  return more.empty() ? hop.name : hop.name + " (" + more + ")";
}

// "thread worker (tid 101 of server, pid 100)"
std::string holder_text(const UnitHolder& holder) {
  const std::string pid = holder.pid != 0 ? "pid " + std::to_string(holder.pid) : std::string();
  if (!holder.is_thread) {
    return "process " + holder.process + (pid.empty() ? "" : " (" + pid + ")");
  }
  std::string process = holder.process;
  if (!pid.empty()) process += (process.empty() ? "" : ", ") + pid;
  std::string more = holder.tid != 0 ? "tid " + std::to_string(holder.tid) : std::string();
  if (!process.empty()) more += (more.empty() ? "of " : " of ") + process;
  return "thread " + holder.thread + (more.empty() ? "" : " (" + more + ")");
}

// Whose lock, after "2.1 threads wait for a lock".
std::string held_by(const WhyHop& hop) {
  const UnitHolder& holder = *hop.holder;
  const std::string of = hop.kind == Kind::Self ? "" : " of " + hop.name;
  return ", " + holder.lock + " that " + holder_text(holder) + of + " holds";
}

std::string taken_by(const WhyHop& waits, const WhyHop& hop) {
  if (hop.kind == Kind::Self) return "its own threads have them";
  if (hop.kind == Kind::Kernel) return "kernel threads have them";
  return hop.name + " has them, " + share_text(hop.threads / std::max(waits.threads, 1e-9)) +
         " of the time";
}

// What comes after "2.1 threads wait for a lock": whom for.
std::string whom(const WhyHop& waits, const WhyHop& next) {
  if (next.does == Does::Loads) return ", which " + next.name + " loads (" + next.because + ")";
  if (next.kind == Kind::Unknown) return ", of whom is unknown, because " + next.because;
  if (next.holder) return held_by(next);
  if (waits.for_kind == kForThrottled) return ": " + next.because;
  if (waits.for_kind == kForCpu) return ": " + taken_by(waits, next);
  switch (next.kind) {
    case Kind::Device:
      return " on device " + next.name + next.because;
    case Kind::Remote:
      return " of " + next.name + ", on another host";
    case Kind::Kernel:
      return " of the kernel";
    case Kind::Self:
      return " of threads of its own";
    default:
      break;
  }
  return (waits.does == Does::Idles ? " from " : " of ") + who(next);
}

// What a unit in the path does, as the next clause of the sentence; empty: there is none.
std::string deed_of(const WhyHop& hop) {
  const std::string at = hop.site.empty() || hop.site == "sleep" ? "" : " (" + hop.site + ")";
  const bool held = hop.holder && hop.holder->is_thread;
  if (held && hop.holder->does == UnitHolder::Does::Deadlocked) {
    return "; a deadlock of " + hop.holder->circle + ": none of them can go on";
  }
  const std::string during =
      hop.share > 0 ? "; " + share_text(hop.share) + " of that time " : std::string("; meanwhile ");
  const std::string subject = held ? "; that thread " : during + hop.name + " ";
  switch (hop.does) {
    case Does::Waits:
      return subject + "waits " + std::string(words_of_for(hop.for_kind)) + at;
    case Does::Idles:
      return subject + "waits for work";
    case Does::Runs:
      if (held) return subject + "runs";
      if (hop.share > 0) return subject + "runs or waits for a CPU";
      return subject + "runs on " + threads_text(hop.threads) + " CPUs";
    case Does::Sleeps:
      return subject + "sleeps" + at;
    case Does::Loads:
    case Does::End:
      return {};
    case Does::Unknown:
      break;
  }
  return "; what that does is unknown, because " + hop.because;
}

std::string sentence_of(const WhyPath& path) {
  const WhyHop& first = path.hops.front();
  const std::string threads = threads_text(first.threads);
  std::string text =
      first.name + ": " + threads + " threads wait " + std::string(words_of_for(first.for_kind));
  if (!first.site.empty()) text += " (" + first.site + ")";
  for (std::size_t i = 0; i + 1 < path.hops.size(); ++i) {
    const WhyHop& next = path.hops[i + 1];
    text += whom(path.hops[i], next);
    const bool does = next.kind == Kind::Unit || next.holder;
    if (does && path.hops[i].for_kind != kForCpu) text += deed_of(next);
  }
  return text;
}

}  // namespace

WhyVerdict verdict_of(WhyUnits& units, const std::string& unit) {
  WhyVerdict verdict{.unit = unit};
  const Cause* const cause = main_cause(units.of(unit), 1e-3);
  if (cause == nullptr) return verdict;
  verdict.for_kind = cause->for_kind;
  verdict.threads = cause->threads;
  verdict.error = cause->error;
  verdict.path = follow(units, unit, *cause);
  verdict.sentence = sentence_of(verdict.path);
  const WhyHop* const culprit = verdict.path.culprit();
  if (culprit) {
    verdict.culprit = culprit->name;
  } else {
    verdict.because = verdict.path.hops.back().because;
  }
  return verdict;
}

std::vector<WhyVerdict> verdicts(WhyUnits& units, std::size_t most) {
  std::vector<WhyVerdict> all;
  for (const std::string& unit : units_in(units.inputs())) {
    if (main_cause(units.of(unit), kLeastThreads)) all.push_back(verdict_of(units, unit));
  }
  const auto passes_through = [](const WhyVerdict& one, const WhyVerdict& other) {
    const auto& hops = one.path.hops;
    return std::any_of(hops.begin() + 1, hops.end(), [&](const WhyHop& hop) {
      // Who has a CPU, or loads a disk, does not explain what it waits for itself.
      return hop.kind == Kind::Unit && hop.name == other.unit && hop.does != Does::Runs &&
             hop.does != Does::Loads && hop.does != Does::End;
    });
  };
  std::vector<WhyVerdict> kept;
  for (std::size_t i = 0; i < all.size(); ++i) {
    bool told = false;
    for (std::size_t k = 0; k < all.size() && !told; ++k) {
      // Of two that pass through each other the first one stays.
      if (k == i || !passes_through(all[k], all[i])) continue;
      if (k > i && passes_through(all[i], all[k])) continue;
      told = all[i].threads <= kOwnVerdict * all[k].threads;
    }
    if (!told) kept.push_back(all[i]);
  }
  std::ranges::stable_sort(kept, std::ranges::greater(), &WhyVerdict::threads);
  if (kept.size() > most) kept.resize(most);
  return kept;
}

}  // namespace offcpud
