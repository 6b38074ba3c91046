// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <span>

#include "api/first_look.h"
#include "api/why_answer.h"
#include "api/why_notes.h"
#include "base/amount_text.h"
#include "base/duration_text.h"
#include "base/no_unit.h"
#include "base/printable.h"
#include "base/utc.h"
#include "why/cause_parts.h"

namespace offcpud {
namespace {

using Kind = Cause::Kind;

constexpr auto kUnknown = static_cast<std::size_t>(WaitFor::Unknown);
constexpr double kPartWorthALine = 0.01;  // of what the unit waited
constexpr double kLeastTold = 0.005;      // threads

bool is_idle_cause(const Cause& cause) {
  return !is_actionable_for(cause.for_kind) && cause.for_kind != kUnknown;
}

// Whether nobody of the unit idles any more. Of the whole host it is never so.
bool has_left_off(const UnitCauses& unit) {
  if (unit.gone) return true;
  return std::ranges::any_of(unit.causes, is_idle_cause) &&
         std::ranges::all_of(
             unit.causes, [](const Cause& cause) { return cause.over || !is_idle_cause(cause); });
}

std::string idle_text(const UnitCauses& unit) {
  std::string text = "left out as idle: " + threads_text(unit.idle) +
                     (has_left_off(unit) ? " threads waited" : " threads wait") +
                     " for work or a timer, " + threads_text(unit.children) +
                     " for their own children (offcpuctl top --sort idle)";
  if (unit.unknown >= kLeastTold) {
    text += "; of " + threads_text(unit.unknown) +
            " nobody can tell what for (offcpuctl top --sort unknown)";
  }
  return text;
}

// ": thread worker (tid 812 of python3) holds a mutex for 3 threads now", or "held a mutex for 3
// threads"; empty: no holder is known.
std::string holder_text(const Cause& part) {
  if (!part.holder) return {};
  const UnitHolder& holder = *part.holder;
  std::string text = !holder.is_thread ? ": it" : ": thread " + holder.thread;
  if (holder.is_thread && holder.tid != 0) {
    const bool says_more = !holder.process.empty() && holder.process != holder.thread;
    text +=
        " (tid " + std::to_string(holder.tid) + (says_more ? " of " + holder.process : "") + ")";
  }
  const std::string threads = " for " + counted(holder.waiting, "thread");
  return text + (part.over ? " held " + holder.lock + threads
                           : " holds " + holder.lock + threads + " now");
}

// "store-app.service (python3, pid 812)"
std::string named(const std::string& name, const Cause& part) {
  std::string more = part.process;
  if (part.pid != 0) more += (more.empty() ? "pid " : ", pid ") + std::to_string(part.pid);
  return more.empty() ? name : name + " (" + more + ")";
}

std::string who_text(const Cause& part) {
  const std::string because = part.because.empty() ? "" : ": " + part.because;
  switch (part.kind) {
    case Kind::For:
      return (part.of.empty() ? "" : in_sentence(part.of) + verb_of(part.of, " waits ", " wait ")) +
             std::string(words_of_for(part.for_kind)) + because +
             (part.over ? ", until at most " + duration_text(part.over_within) + " ago" : "");
    case Kind::Unit:
    case Kind::Remote:
      return named(in_sentence(part.name), part) +
             (part.for_kind == kForCpu ? " had it" : holder_text(part));
    case Kind::Device:
      return "device " + part.name + because;
    case Kind::Self:
      if (part.for_kind == kForThrottled) return part.because;
      return named("same unit", part) + holder_text(part) + because;
    case Kind::Kernel:
      return "kernel threads";
    case Kind::Others:
      return "others";
    case Kind::Nobody:
      return part.for_kind == kForCpu ? "nobody: the CPU had to wake up" : "nobody";
    case Kind::Runs:
      return in_sentence(part.name) + verb_of(part.name, " runs", " run") +
             (part.because.empty()
                  ? ""
                  : verb_of(part.name, ", or waits for a CPU", ", or wait for a CPU"));
    case Kind::Busy:
      return in_sentence(part.name) + verb_of(part.name, " is", " are") +
             " busy with other requests";
    case Kind::Unknown:
      break;
  }
  return std::string(unknown_or_not_yet(part.because)) +
         (part.because.empty() ? "" : ", because " + part.because);
}

std::string line_of(const UnitCauses& unit, const Cause& cause, std::size_t depth) {
  const std::string threads = threads_text(cause.threads);
  const std::string error = cause.error > 0 ? "± " + threads_text(cause.error) : std::string();
  const bool shared = is_actionable_for(cause.for_kind) && unit.actionable > 0;
  const std::string share = shared ? share_text(cause.threads / unit.actionable) : std::string();
  return right_aligned(threads, 8) + " " + left_aligned(error, 8) + " " + right_aligned(share, 7) +
         "  " + std::string(depth * 2, ' ') + printable(who_text(cause)) + "\n";
}

// Who loads a device, below its line.
void append_load(std::string& text, const Cause& part) {
  constexpr std::size_t kMostLoaders = 3;
  if (!part.load) return;
  std::string line;
  const std::span<const DeviceLoad::Part> all(part.load->parts);
  for (const DeviceLoad::Part& loader : all.first(std::min(all.size(), kMostLoaders))) {
    line += (line.empty() ? "loaded by " : "; ") + in_sentence(loader_name(loader)) + " (" +
            load_text(*part.load, loader) + ")";
  }
  if (line.empty()) line = "who loads it is unknown, because " + part.load->because;
  text += std::string(33, ' ') + printable(line) + "\n";
}

void append_parts(std::string& text, const UnitCauses& unit, const Cause& cause,
                  std::size_t depth) {
  for (const Cause& part : cause.parts) {
    if (part.threads < kPartWorthALine * unit.actionable) continue;
    text += line_of(unit, part, depth);
    append_load(text, part);
    append_parts(text, unit, part, depth + 1);
  }
}

void append_sites(std::string& text, const Cause& cause) {
  constexpr std::size_t kMostSitesTold = 3;
  std::string line;
  std::size_t shown = 0;
  for (const Cause::Site& site : cause.sites) {
    if (site.site.empty() || shown == kMostSitesTold) break;
    line += (line.empty() ? "at " : ", ") + site.site + " " + threads_text(site.threads);
    if (site.lasting > 0 && site.oldest.ns > 0 && !cause.over) {
      line += " (" + std::to_string(site.lasting) + " now, the longest for " +
              age_text(site.oldest) + ")";
    }
    ++shown;
  }
  if (!line.empty()) text += std::string(28, ' ') + printable(line) + "\n";
}

// Who ended such waits before, below the line of a lock without holder.
void append_releasers(std::string& text, const Cause& cause) {
  if (!cause.released) return;
  text += std::string(28, ' ') + printable(releasers_text(*cause.released)) + "\n";
}

// The unit for which most of the cause waited; null: there is none that has a command.
const Cause* largest_unit(const Cause& cause) {
  const auto found = std::ranges::find_if(cause.parts, [](const Cause& part) {
    return part.kind == Kind::Unit && !evidence_for({}, part).empty();
  });
  return found != cause.parts.end() ? &*found : nullptr;
}

// The commands that show more of the largest cause, once for the unit.
void append_evidence(std::string& text, const UnitCauses& unit) {
  const Cause* const cause = main_cause(unit, 0);
  if (cause == nullptr) return;
  std::string commands = evidence_for(unit.unit, *cause);
  if (const Cause* const on = largest_unit(*cause)) {
    commands += (commands.empty() ? "" : "; ") + evidence_for(unit.unit, *on);
  }
  if (!commands.empty()) text += "  more: " + printable(commands) + "\n";
}

std::string tree_text(const UnitCauses& unit) {
  const bool over = unit.over > 0 && unit.is_over();
  std::string text = printable(in_sentence(unit.unit)) + (unit.gone ? ", gone by now" : "") + ": " +
                     threads_text(unit.actionable) + (over ? " threads waited" : " threads wait") +
                     " for something that can be acted on, " + threads_text(unit.running) +
                     " CPUs used\n";
  for (const Cause& cause : unit.causes) {
    const bool actionable = is_actionable_for(cause.for_kind);
    if (!actionable || cause.threads < kPartWorthALine * unit.actionable) continue;
    text += line_of(unit, cause, 0);
    append_sites(text, cause);
    append_releasers(text, cause);
    append_parts(text, unit, cause, 1);
  }
  append_evidence(text, unit);
  return text + "  " + idle_text(unit) + "\n";
}

// "20 s until 12:00:00 UTC". If CPUs are known for another length of time, that follows in
// parentheses.
std::string window_text(const WhyAnswer& answer) {
  const auto& sites = answer.inputs.sites;
  const auto& cpus = answer.inputs.cpus;
  const double seconds = sites.known() ? sites.seconds : cpus.seconds;
  const double age = sites.known() ? sites.age_seconds : 0;
  const auto end = answer.taken - std::chrono::duration_cast<WallTime::duration>(
                                      std::chrono::duration<double>(age));
  std::string text = duration_text(seconds) + " until " + clock_text(end) + " UTC";
  const std::string of_cpus = duration_text(cpus.seconds);
  if (sites.known() && cpus.known() && of_cpus != duration_text(seconds)) {
    text += " (CPUs: " + of_cpus + " until " + clock_text(answer.taken) + ")";
  }
  return text;
}

// Of a unit with threads of which nobody can tell what they wait for: how many, for how long, and
// the command that shows where. Empty: there are none.
std::string unknown_text(const UnitCauses& unit) {
  const auto cause = std::ranges::find(unit.causes, kUnknown, &Cause::for_kind);
  if (cause == unit.causes.end() || unit.unknown < kLeastThreads) return {};
  std::uint32_t lasting = 0;
  WaitAge oldest;
  for (const Cause::Site& site : cause->sites) {
    lasting += site.lasting;
    oldest.merge(site.oldest);
  }
  std::string text = "; of " + threads_text(cause->threads) +
                     (cause->over ? " threads that waited" : " threads that wait") +
                     " nobody can tell what for";
  if (lasting > 0 && oldest.ns > 0 && !cause->over) {
    text += " (" + std::to_string(lasting) + " now, the longest for " + age_text(oldest) + ")";
  }
  const std::string command = evidence_for(unit.unit, *cause);
  return text + ": " + (command.empty() ? "offcpuctl top --sort unknown" : command);
}

// "nobody waits for a lock, ..."; goroutines have sentences of their own.
std::string nobody_text(const WhyAnswer& answer) {
  if (!answer.inputs.sites.known()) {
    const std::string& missing = answer.inputs.sites.missing;
    return (missing.starts_with(kStartedAgo) ? "what threads wait for is not known yet: "
                                             : "what threads wait for is unknown, because ") +
           missing + "\n";
  }
  constexpr const char* kFor = " waits for a lock, an answer, storage, memory or a CPU (";
  if (answer.whole_host) {
    return (tells_of_goroutines(answer.goroutines) ? "no thread" : "nobody") +
           (kFor + threads_text(answer.total.actionable - answer.total.over)) +
           " threads on average)\n";
  }
  std::string text;
  for (const UnitCauses& tree : answer.trees) {
    text += printable(in_sentence(tree.unit) + ": no thread" + kFor +
                      threads_text(tree.actionable - tree.over) + " threads on average)" +
                      unknown_text(tree)) +
            "\n";
  }
  return text;
}

}  // namespace

std::string why_text(const WhyAnswer& answer) {
  std::string text;
  const bool lasts =
      std::ranges::any_of(answer.verdicts, [](const auto& each) { return !each.over; });
  if (!lasts) text += nobody_text(answer);
  for (const WhyVerdict& verdict : answer.verdicts) text += printable(verdict.sentence) + "\n";
  text += why_goroutines_text(answer.goroutines, answer.whole_host);
  text += notes_text(answer);
  if (answer.whole_host) text += idle_text(answer.total) + "\n";
  text += "\nthreads on average, " + window_text(answer) +
          ", their standard error, and the share of what the unit waits:\n";
  for (const UnitCauses& tree : answer.trees) text += tree_text(tree);
  return text;
}

}  // namespace offcpud
