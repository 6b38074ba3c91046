// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <ranges>

#include "api/why_answer.h"
#include "base/amount_text.h"
#include "base/duration_text.h"
#include "base/printable.h"
#include "base/utc.h"

namespace offcpud {
namespace {

using Kind = Cause::Kind;

constexpr std::size_t kWhoColumns = 72;
constexpr double kWorthALine = 0.01;  // of what the unit waited

std::string idle_text(const UnitCauses& unit) {
  return "idle: " + threads_text(unit.idle) + " threads wait for work or a timer, " +
         threads_text(unit.children) + " for their own children; of " + threads_text(unit.unknown) +
         " nobody can tell what for";
}

// ": thread worker (tid 812) holds a mutex for 3 threads now"; empty: no holder is known.
std::string holder_text(const Cause& part) {
  if (!part.holder) return {};
  const UnitHolder& holder = *part.holder;
  std::string text = !holder.is_thread ? ": it" : ": thread " + holder.thread;
  if (holder.is_thread && holder.tid != 0) text += " (tid " + std::to_string(holder.tid) + ")";
  return text + " holds " + holder.lock + " for " + std::to_string(holder.waiting) +
         (holder.waiting == 1 ? " thread now" : " threads now");
}

// "of store-app.service (python3, pid 812)"
std::string who_text(const Cause& part) {
  std::string more = part.process;
  if (part.pid != 0) more += (more.empty() ? "pid " : ", pid ") + std::to_string(part.pid);
  const std::string process = more.empty() ? "" : " (" + more + ")";
  const std::string because = part.because.empty() ? "" : ": " + part.because;
  switch (part.kind) {
    case Kind::For:
      return (part.of.empty() ? "" : part.of + " waits ") +
             std::string(words_of_for(part.for_kind)) + because;
    case Kind::Unit:
    case Kind::Remote:
      return part.name + process + (part.for_kind == kForCpu ? " had it" : holder_text(part));
    case Kind::Device:
      return "device " + part.name + because;
    case Kind::Self:
      return part.because.empty() ? "threads of its own" + holder_text(part) : part.because;
    case Kind::Kernel:
      return "kernel threads";
    case Kind::Others:
      return "others";
    case Kind::Nobody:
      return part.for_kind == kForCpu ? "nobody: the CPU had to wake up" : "nobody";
    case Kind::Runs:
      return part.name + " runs, or waits for a CPU";
    case Kind::Unknown:
      break;
  }
  return "unknown" + (part.because.empty() ? "" : ", because " + part.because);
}

std::string line_of(const UnitCauses& unit, const Cause& cause, std::size_t depth,
                    const std::string& who) {
  const std::string threads = threads_text(cause.threads);
  const std::string error = cause.error > 0 ? "+- " + threads_text(cause.error) : std::string();
  const bool shared = is_actionable_for(cause.for_kind) && unit.actionable > 0;
  const std::string share = shared ? share_text(cause.threads / unit.actionable) : std::string();
  const std::string evidence = evidence_for(unit.unit, cause);
  std::string line = right_aligned(threads, 8) + " " + left_aligned(error, 10) + " " +
                     right_aligned(share, 8) + "  " + std::string(depth * 2, ' ') + printable(who);
  if (!evidence.empty()) {
    line = left_aligned(line, 30 + kWhoColumns) + "  " + evidence;
  }
  return line + "\n";
}

// Who loads a device, below its line.
void append_load(std::string& text, const Cause& part) {
  constexpr std::size_t kMostLoaders = 3;
  if (!part.load) return;
  std::string line;
  for (const DeviceLoad::Part& loader : part.load->parts | std::views::take(kMostLoaders)) {
    line += (line.empty() ? "loaded by " : "; ") + loader_name(loader) + " (" +
            load_text(*part.load, loader) + ")";
  }
  if (line.empty()) line = "who loads it is unknown, because " + part.load->because;
  text += std::string(33, ' ') + printable(line) + "\n";
}

void append_parts(std::string& text, const UnitCauses& unit, const Cause& cause,
                  std::size_t depth) {
  for (const Cause& part : cause.parts) {
    if (part.threads < kWorthALine * unit.actionable) continue;
    text += line_of(unit, part, depth, who_text(part));
    append_load(text, part);
    append_parts(text, unit, part, depth + 1);
  }
}

void append_sites(std::string& text, const Cause& cause) {
  constexpr std::size_t kMostSites = 3;
  std::string line;
  std::size_t shown = 0;
  for (const Cause::Site& site : cause.sites) {
    if (site.site.empty() || shown == kMostSites) break;
    line += (line.empty() ? "at " : ", ") + site.site + " " + threads_text(site.threads);
    if (site.lasting > 0 && site.oldest.ns > 0) {
      const auto age = std::chrono::nanoseconds(static_cast<std::int64_t>(site.oldest.ns));
      line += " (" + std::to_string(site.lasting) + " now, the longest for " +
              (site.oldest.estimated ? "~" : "") + duration_text(age) + ")";
    }
    ++shown;
  }
  if (!line.empty()) text += std::string(31, ' ') + printable(line) + "\n";
}

std::string tree_text(const UnitCauses& unit) {
  std::string text = printable(unit.unit) + ": " + threads_text(unit.actionable) +
                     " threads wait for something that can be acted on, " +
                     threads_text(unit.running) + " CPUs used\n";
  for (const Cause& cause : unit.causes) {
    const bool actionable = is_actionable_for(cause.for_kind);
    if (!actionable || cause.threads < kWorthALine * unit.actionable) continue;
    text += line_of(unit, cause, 0, std::string(words_of_for(cause.for_kind)));
    append_sites(text, cause);
    append_parts(text, unit, cause, 1);
  }
  return text + "  " + idle_text(unit) + "\n";
}

std::string nobody_text(const WhyAnswer& answer) {
  if (!answer.inputs.sites.known()) {
    return "what threads wait for is unknown, because " + answer.inputs.sites.missing + "\n";
  }
  const std::string amount = " (" + threads_text(answer.total.actionable) + " threads on average)";
  if (answer.whole_host) {
    return "nobody waits for a lock, an answer, storage, memory or a CPU" + amount + "\n";
  }
  std::string text;
  for (const UnitCauses& tree : answer.trees) {
    text +=
        printable(tree.unit) + ": nothing waits for a lock, an answer, storage, memory or a CPU\n";
  }
  return text;
}

}  // namespace

std::string why_text(const WhyAnswer& answer) {
  std::string text;
  for (const WhyVerdict& verdict : answer.verdicts) text += printable(verdict.sentence) + "\n";
  if (answer.verdicts.empty()) text += nobody_text(answer);
  if (answer.whole_host) text += idle_text(answer.total) + "\n";
  const double seconds = std::max(answer.inputs.sites.seconds, answer.inputs.cpus.seconds);
  text += "\nthreads on average, " + duration_text(std::chrono::duration<double>(seconds)) +
          " until " + rfc3339(answer.taken).substr(11, 8) +
          " UTC, with standard error, share of the unit and what shows more:\n";
  for (const UnitCauses& tree : answer.trees) text += tree_text(tree);
  return text;
}

}  // namespace offcpud
