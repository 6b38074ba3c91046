// SPDX-License-Identifier: Apache-2.0
#include "why/verdicts.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/amount_text.h"
#include "base/duration_text.h"
#include "base/no_unit.h"
#include "why/cause_parts.h"

namespace offcpud {
namespace {

using Does = WhyHop::Does;
using Kind = Cause::Kind;

constexpr double kLeastOther = 0.2;  // of what the unit waits: a verdict besides the main one
constexpr double kOwnVerdict = 2;    // times as much as the path that passes through
// Waits of this length are stuck, as `offcpuctl stalls` lists them by default.
constexpr std::uint64_t kStuckNs = 10'000'000'000;
// How many threads that wait for moments weigh as much as one of a verdict about stuck ones. A
// stuck thread delays somebody for certain, but not more than a convoy of many does.
constexpr double kStuckWeight = 4;
// If the path is about a smaller share of the first hop's waits, the sentence says how many threads
// it is about.
constexpr double kNearlyAll = 0.8;
// The same where only one site has at least kSecondSite of the waits: these are mostly for one lock
// or peer, which was just not seen all the time.
constexpr double kOneOfMany = 0.4;
constexpr double kSecondSite = 0.2;

// In the tense of the hop.
std::string verb(const WhyHop& hop, const char* now, const char* past) {
  return hop.over ? past : now;
}

// Whether the name of the unit is a plural in sentences.
bool is_many(const WhyHop& hop) {
  return hop.name == kNoUnit;
}

// "edge waits", "processes outside of all units wait".
std::string verb(const WhyHop& hop, const char* one, const char* many, const char* past) {
  return verb(hop, verb_of(hop.name, one, many), past);
}

// "store-app.service (python3, pid 812)"
std::string who(const WhyHop& hop, const std::string& name) {
  std::string more = hop.process;
  if (hop.pid != 0) more += (more.empty() ? "pid " : ", pid ") + std::to_string(hop.pid);
  return more.empty() ? name : name + " (" + more + ")";
}

// "thread worker (tid 101 of server, pid 100)", "the main thread of server (pid 100)"; no name is
// told twice.
std::string holder_text(const UnitHolder& holder) {
  const std::string pid = holder.pid != 0 ? "pid " + std::to_string(holder.pid) : std::string();
  if (!holder.is_thread) {
    return "process " + holder.process + (pid.empty() ? "" : " (" + pid + ")");
  }
  const bool same_name = holder.thread == holder.process;
  if (same_name && holder.tid != 0 && holder.tid == holder.pid) {
    return "the main thread of " + holder.process + " (" + pid + ")";
  }
  std::string process = same_name ? std::string() : holder.process;
  if (!pid.empty()) process += (process.empty() ? "" : ", ") + pid;
  std::string more = holder.tid != 0 ? "tid " + std::to_string(holder.tid) : std::string();
  if (!process.empty()) more += (more.empty() ? "of " : " of ") + process;
  return "thread " + holder.thread + (more.empty() ? "" : " (" + more + ")");
}

bool is_lock_with_holder(const WhyHop& waits, const WhyHop* next) {
  return next != nullptr && next->holder && waits.for_kind == index_of(WaitFor::Lock);
}

// "for a lock (postgresql-heavyweight-lock)"; of a lock whose holder is known also what kind it is,
// each once: "for a lock (mutex)", "for storage".
std::string what_for(const WhyHop& waits, const WhyHop* next) {
  std::string more = waits.site;
  if (is_lock_with_holder(waits, next)) {
    const std::string lock = next->holder->lock.substr(next->holder->lock.find(' ') + 1);
    more = is_any_lock(more) || more == kGilSite ? lock : more + ", " + lock;
  }
  std::string text(words_of_for(waits.for_kind));
  if (more == name_of_for(waits.for_kind)) return text;
  return more.empty() ? text : text + " (" + more + ")";
}

// Who holds a lock, as a clause about it.
std::string that_holds(const WhyHop& hop) {
  const std::string of = hop.kind == Kind::Self ? "" : of_unit("of", hop.name);
  return " that " + holder_text(*hop.holder) + of + verb(hop, " holds", " held");
}

// Whose lock, after "2.1 threads wait for a lock (mutex)".
std::string held_by(const WhyHop& waits, const WhyHop& hop) {
  const std::string lock = is_lock_with_holder(waits, &hop) ? "" : ", " + hop.holder->lock;
  return lock + that_holds(hop);
}

std::string taken_by(const WhyHop& waits, const WhyHop& hop) {
  const std::string have = verb(hop, " have it", " had it");
  if (hop.kind == Kind::Self) return (is_many(hop) ? "others of them" : "its own threads") + have;
  if (hop.kind == Kind::Kernel) return "kernel threads" + have;
  return in_sentence(hop.name) + verb(hop, " has it, ", " have it, ", " had it, ") +
         share_text(hop.threads / std::max(waits.threads, 1e-9)) + " of the time";
}

// What is unknown of the one that is waited for.
std::string question(const WhyHop& waits, const WhyHop& next) {
  switch (waits.for_kind) {
    case index_of(WaitFor::Lock):
      return verb(next, "who holds it", "who held it");
    case index_of(WaitFor::Storage):
      return "on which device";
    case index_of(WaitFor::Memory):
    case kForCpu:
      return verb(next, "who has it", "who had it");
    default:
      return "from whom";
  }
}

// Of a lock of which no holder is told, as the next clause.
std::string released_by(const WhyHop& hop) {
  return hop.released ? "; " + releasers_text(*hop.released) : std::string();
}

std::string unknown(const WhyHop& waits, const WhyHop& next) {
  if (waits.for_kind == index_of(WaitFor::Stopped)) return "; " + next.because;
  return "; " + question(waits, next) + " is " + std::string(unknown_or_not_yet(next.because)) +
         ", because " + next.because + released_by(next);
}

// What comes after "2.1 threads wait for a lock": whom for.
std::string whom(const WhyHop& waits, const WhyHop& next) {
  if (next.does == Does::Loads) {
    return ", which " + in_sentence(next.name) + verb(next, " loads (", " load (", " loaded (") +
           next.because + ")";
  }
  if (next.kind == Kind::Unknown) return unknown(waits, next);
  if (next.holder) return held_by(waits, next);
  if (waits.for_kind == kForThrottled) return ", its own limit";
  if (waits.for_kind == kForCpu) {
    return next.behind.empty() ? ": " + taken_by(waits, next) : ", " + next.behind;
  }
  switch (next.kind) {
    case Kind::Device:
      return " on device " + next.name + next.because;
    case Kind::Remote:
      return " of " + next.name + ", no process of this host as far as is known";
    case Kind::Kernel:
      return " of the kernel";
    case Kind::Self:
      return " of " + who(next, is_many(next) ? "others of them" : "the same unit") +
             (next.because.empty() ? "" : "; " + next.because) + released_by(next);
    default:
      break;
  }
  return (waits.does == Does::Idles ? " from " : " of ") + who(next, in_sentence(next.name));
}

// The thread of the same unit for which others of it wait, as the subject of a clause.
std::string other_of_them(const WhyHop& hop, bool by_many) {
  const std::string whom = by_many ? verb(hop, "they wait for ", "they waited for ")
                                   : verb(hop, "it waits for ", "it waited for ");
  return "; for " + share_text(hop.share) + (by_many ? " of their" : " of its") +
         " wait the thread that " + whom;
}

// For how long the holder of a lock has done what it does: ", for 12 s now"; ", for ~12 s now" if
// that is an estimate. Empty: unknown, or over.
std::string for_how_long(const WhyHop& hop) {
  if (!hop.holder || hop.holder->age.ns == 0 || hop.over) return {};
  return ", for " + age_text(hop.holder->age) + " now";
}

// What a unit in the path does, as the next clause of the sentence; empty: there is none. `next`:
// whom for; null: the path ends here.
// `by_many`: who waits for it are several threads, else it is one unit.
std::string deed_of(const WhyHop& hop, bool by_many, const WhyHop* next) {
  const bool held = hop.holder && hop.holder->is_thread;
  if (held && hop.holder->does == UnitHolder::Does::Deadlocked) {
    return "; a deadlock of " + hop.holder->circle + ": none of them " + verb(hop, "can", "could") +
           " go on";
  }
  const bool own = hop.kind == Kind::Self && !held;
  const std::string during =
      hop.share > 0 ? "; " + share_text(hop.share) + " of that time " : std::string("; meanwhile ");
  std::string subject = held  ? "; that thread "
                        : own ? other_of_them(hop, by_many)
                              : during + in_sentence(hop.name) + " ";
  const auto does = [&](const char* one, const char* many, const char* past) {
    return held || own ? verb(hop, one, past) : verb(hop, one, many, past);
  };
  const std::string since = held ? for_how_long(hop) : std::string();
  if (hop.busy) {
    subject += does("is", "are", "was") + std::string(" busy with other requests");
    if (hop.does == Does::Unknown) return subject;
    subject += " and mostly ";
  }
  switch (hop.does) {
    case Does::Waits:
      return subject + does("waits", "wait", "waited") + since + (since.empty() ? " " : ", ") +
             what_for(hop, next);
    case Does::Idles:
      return subject + does("waits for work", "wait for work", "waited for work") + since;
    case Does::Runs: {
      std::string runs = subject + does("runs", "run", "ran");
      const std::string waits = does("waits", "wait", "waited") + std::string(" for a CPU");
      if (held) return since.empty() ? runs : runs + " or " + waits + since;
      if (hop.share <= 0) return runs + " on " + threads_text(hop.threads) + " CPUs";
      if (hop.or_queued) runs += " or " + waits;
      if (hop.queued <= 0) return runs;
      runs += ", " + share_text(hop.queued) + (own ? " it " : " ") + waits;
      return runs + (hop.behind.empty() ? "" : ", " + hop.behind);
    }
    case Does::Sleeps: {
      const bool says_more = !hop.site.empty() && hop.site != "sleep";
      return subject + does("sleeps", "sleep", "slept") + (says_more ? " (" + hop.site + ")" : "") +
             since;
    }
    case Does::Loads:
    case Does::End:
      return {};
    case Does::Unknown:
      break;
  }
  return verb(hop, "; what that does", "; what that did") + " is unknown, because " + hop.because;
}

// "app.service (python3, pid 812)"; of something that is over: ", until at most 12 s ago".
std::string subject_of(const WhyHop& first) {
  std::string text = who(first, in_sentence(first.name));
  if (!first.over) return text;
  if (first.gone) text += ", gone by now";
  return text + ", until at most " +
         duration_text(std::chrono::duration<double>(first.over_within)) + " ago";
}

// Whether the path is about a part of the first hop's waits only. False for waits for a CPU: a
// sentence about these has the share anyway.
bool is_in_part(const WhyPath& path, const Cause& cause) {
  const auto is_large = [&](const Cause::Site& site) {
    return site.threads >= kSecondSite * cause.threads;
  };
  const double least = std::ranges::count_if(cause.sites, is_large) > 1 ? kNearlyAll : kOneOfMany;
  return path.followed < least - 1e-6 && path.hops.front().for_kind != kForCpu;
}

// whom(), for this many of the threads: ": 1.0 for a lock on a file that ... holds".
std::string whom_in_part(const WhyHop& waits, const WhyHop& next, double threads) {
  const std::string part = ": " + threads_text(threads);
  if (!is_lock_with_holder(waits, &next)) return part + whom(waits, next);
  return part + " for " + next.holder->lock + that_holds(next);
}

std::string sentence_of(const WhyPath& path, const Cause& cause) {
  const auto& hops = path.hops;
  const auto behind = [&](std::size_t i) { return i + 1 < hops.size() ? &hops[i + 1] : nullptr; };
  const WhyHop& first = hops.front();
  const bool in_part = is_in_part(path, cause);
  std::string text = subject_of(first) + ": " + threads_text(first.threads) +
                     verb(first, " threads wait ", " threads waited ") +
                     what_for(first, in_part ? nullptr : behind(0));
  for (std::size_t i = 0; i + 1 < hops.size(); ++i) {
    const WhyHop& next = hops[i + 1];
    text += i == 0 && in_part ? whom_in_part(first, next, path.followed * first.threads)
                              : whom(hops[i], next);
    const bool does =
        next.kind == Kind::Unit || next.holder || (next.kind == Kind::Self && next.share > 0);
    if (does && hops[i].for_kind != kForCpu) text += deed_of(next, i == 0, behind(i + 1));
  }
  return text;
}

// Whether threads have waited long there, now, and that somebody should know. Ends of a pipeline
// wait for each other all the time, and who is stopped was stopped by somebody.
bool is_stuck(const Cause& cause, const WhyPath& path) {
  const bool lasts = !cause.over && std::ranges::any_of(cause.sites, [](const Cause::Site& site) {
    return site.lasting > 0 && site.oldest.ns >= kStuckNs;
  });
  switch (cause.for_kind) {
    case index_of(WaitFor::Lock):
    case index_of(WaitFor::Storage):
    case index_of(WaitFor::Memory):
      return lasts;
    case index_of(WaitFor::Answer):
      return lasts && path.culprit() != nullptr && path.hops[1].kind != Kind::Self;
    default:
      return false;
  }
}

WhyVerdict verdict_about(WhyUnits& units, const std::string& unit, const Cause& cause) {
  WhyVerdict verdict{.unit = unit, .for_kind = cause.for_kind};
  verdict.threads = cause.threads;
  verdict.error = cause.error;
  verdict.over = cause.over;
  verdict.over_within = cause.over_within;
  verdict.path = follow(units, unit, cause);
  verdict.sentence = sentence_of(verdict.path, cause);
  const WhyHop* const culprit = verdict.path.culprit();
  verdict.stuck = is_stuck(cause, verdict.path);
  if (culprit) {
    verdict.culprit = culprit->name;
    verdict.attributed = culprit->attributed;
  } else {
    verdict.because = verdict.path.hops.back().because;
  }
  return verdict;
}

bool is_deadlock(const Cause& cause) {
  return std::ranges::any_of(cause.parts, [](const Cause& part) {
    return part.holder && part.holder->does == UnitHolder::Does::Deadlocked;
  });
}

// Whether something besides its main cause is worth a sentence: a large part, or a deadlock, which
// never ends.
bool is_told_apart(const UnitCauses& tree, const Cause& cause) {
  if (!is_actionable_for(cause.for_kind) || cause.over || cause.threads < kLeastThreads) {
    return false;
  }
  return cause.threads >= kLeastOther * tree.actionable || is_deadlock(cause);
}

// Whether a verdict passes through the unit of this hop. Who has a CPU, or loads a disk, does not
// explain what it waits for itself.
bool is_passed_through(const WhyHop& hop) {
  return hop.kind == Kind::Unit && hop.does != Does::Runs && hop.does != Does::Loads &&
         hop.does != Does::End;
}

// By unit: the verdicts whose paths pass through it. Without this each verdict would be compared
// with each other one.
using Passing = std::unordered_map<std::string_view, std::vector<std::size_t>>;

// Refers to `all`.
Passing passing_of(const std::vector<WhyVerdict>& all) {
  Passing passing;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const WhyHop& hop : std::span(all[i].path.hops).subspan(1)) {
      if (is_passed_through(hop)) passing[hop.name].push_back(i);
    }
  }
  return passing;
}

// Whether the path of `one` says what the unit of `other` waits for. What is over explains nothing
// that lasts.
bool tells(const WhyVerdict& one, const WhyVerdict& other) {
  if ((one.over && !other.over) || other.threads > kOwnVerdict * one.threads) return false;
  return std::ranges::any_of(std::span(one.path.hops).subspan(1), [&](const WhyHop& hop) {
    return is_passed_through(hop) && hop.name == other.unit &&
           (other.is_main || hop.for_kind == other.for_kind);
  });
}

// What lasts comes first, of that what more threads wait for; stuck ones count for more.
bool worse(const WhyVerdict& one, const WhyVerdict& other) {
  const auto rank = [](const WhyVerdict& each) {
    return std::tuple(each.over, -each.threads * (each.stuck ? kStuckWeight : 1));
  };
  return rank(one) < rank(other);
}

}  // namespace

WhyVerdict verdict_of(WhyUnits& units, const std::string& unit) {
  const UnitCauses& tree = units.of(unit);
  const Cause* const large = main_cause(tree);
  const Cause* const cause = large != nullptr ? large : main_cause(tree, 1e-3);
  return cause != nullptr ? verdict_about(units, unit, *cause) : WhyVerdict{.unit = unit};
}

std::vector<WhyVerdict> verdicts_of(WhyUnits& units, const std::string& unit) {
  std::vector<WhyVerdict> all = {verdict_of(units, unit)};
  if (all.front().threads <= 0) return {};
  const UnitCauses& tree = units.of(unit);
  for (const Cause& cause : tree.causes) {
    if (cause.for_kind == all.front().for_kind || !is_told_apart(tree, cause)) continue;
    all.push_back(verdict_about(units, unit, cause));
    all.back().is_main = false;
  }
  return all;
}

std::vector<WhyVerdict> verdicts(WhyUnits& units, std::size_t most) {
  std::vector<WhyVerdict> all;
  for (const std::string& unit : units_in(units.inputs())) {
    if (!main_cause(units.of(unit))) continue;
    for (WhyVerdict& verdict : verdicts_of(units, unit)) all.push_back(std::move(verdict));
  }
  std::ranges::stable_sort(all, worse);
  const Passing passing = passing_of(all);
  std::vector<WhyVerdict> kept;
  for (std::size_t i = 0; i < all.size() && kept.size() < most; ++i) {
    const auto through = passing.find(all[i].unit);
    // Of two that tell each other the worse one stays.
    const bool told =
        through != passing.end() && std::ranges::any_of(through->second, [&](std::size_t k) {
          return k != i && tells(all[k], all[i]) && !(i < k && tells(all[i], all[k]));
        });
    if (!told) kept.push_back(all[i]);
  }
  return kept;
}

}  // namespace offcpud
