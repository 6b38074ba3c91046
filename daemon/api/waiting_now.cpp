// SPDX-License-Identifier: Apache-2.0
#include "api/waiting_now.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

#include "api/first_look.h"
#include "api/for_sums.h"
#include "api/unit_waits.h"
#include "attribution/unit_name.h"
#include "base/amount_text.h"
#include "base/duration_text.h"
#include "base/no_unit.h"
#include "pipeline/site_history.h"
#include "pipeline/stall.h"

namespace offcpud {
namespace {

constexpr std::size_t kMostUnits = 3;        // in one line
constexpr double kThreadsWorthALine = 0.05;  // fewer threads on average are not worth a line

// What somebody may want to do something about.
constexpr struct {
  WaitFor wait_for;
  std::string_view text;
} kActionable[] = {{WaitFor::Lock, "waiting for a lock"},
                   {WaitFor::Answer, "waiting for an answer"},
                   {WaitFor::Storage, "waiting for storage"},
                   {WaitFor::Memory, "waiting for memory"},
                   {WaitFor::Stopped, "stopped"}};

// The waits of one unit for one thing, or for a CPU; that has no sites.
struct UnitPart {
  std::string unit;
  double threads = 0;
  const CgroupWaits* largest = nullptr;  // of its sites
  std::uint32_t lasting = 0;
  WaitAge oldest;
};

// Where to find who waits, and whether the client may see that.
struct Places {
  const WaitWindow* window = nullptr;
  bool told = false;
};

using UnitParts = std::map<std::string, UnitPart>;  // by name

// The largest first.
std::vector<UnitPart> ranked(UnitParts&& units) {
  std::vector<UnitPart> parts;
  for (auto& [unit, part] : units) {
    part.unit = unit;
    parts.push_back(std::move(part));
  }
  std::ranges::stable_sort(
      parts, [](const UnitPart& a, const UnitPart& b) { return a.threads > b.threads; });
  return parts;
}

double threads_of(const std::vector<UnitPart>& parts) {
  double threads = 0;
  for (const UnitPart& part : parts) threads += part.threads;
  return threads;
}

// `since`: how long ago the window ended; what lasted then is as much older now, as stalls are.
std::vector<UnitPart> parts_of(const SiteWindow& window, WaitFor wait_for, double seconds,
                               std::chrono::nanoseconds since) {
  UnitParts units;
  for (const CgroupWaits& waits : window.sites) {
    // A child shows itself what it waits for.
    const double ns = waits.time.ns - waits.child.ns;
    if (waits.wait_for != wait_for || ns < waits.child.ns) continue;
    UnitPart& part = units[unit_name(*waits.cgroup)];
    part.threads += ns * 1e-9 / seconds;
    part.lasting += waits.lasting;
    part.oldest.merge(waits.oldest.after(since));
    if (!part.largest || waits.time.ns > part.largest->time.ns) part.largest = &waits;
  }
  return ranked(std::move(units));
}

// Those that wait for a CPU.
std::vector<UnitPart> cpu_parts(const View& view) {
  const WaitStep& step = *view.history.back();
  const double seconds = std::chrono::duration<double>(step.length()).count();
  if (seconds <= 0) return {};
  UnitSums sums(view);
  sums.add(step, [](const std::string&) { return true; });
  UnitParts units;
  for (const auto& [cgroup, unit] : sums.units()) {
    if (unit.runqueue_ns() == 0) continue;
    units[unit_name(std::string(cgroup))].threads +=
        static_cast<double>(unit.runqueue_ns()) * 1e-9 / seconds;
  }
  return ranked(std::move(units));
}

// The name of the process that waited most there; empty: unknown, for example because the window
// kept no row for the cgroup.
std::string process_of(const WaitWindow* window, const CgroupWaits& at) {
  if (!window) return {};
  const SiteWaits* most = nullptr;
  for (const SiteWaits& waits : window->sites) {
    if (waits.wait_for != at.wait_for || waits.site != *at.site || waits.cgroup != *at.cgroup) {
      continue;
    }
    if (!most || waits.time.ns > most->time.ns) most = &waits;
  }
  return most ? most->comm : std::string();
}

// "postgres: postgresql-heavyweight-lock"
std::string place_text(const WaitWindow* window, const CgroupWaits& at) {
  const std::string process = process_of(window, at);
  if (process.empty() || at.site->empty()) return process + *at.site;
  return process + ": " + *at.site;
}

// "7.9 in postgresql.service (postgres: postgresql-heavyweight-lock; 8 now, the longest for 25 s)"
std::string part_text(const UnitPart& part, const Places& places) {
  std::string text = threads_text(part.threads) + of_unit("in", part.unit);
  std::string more = places.told ? place_text(places.window, *part.largest) : std::string();
  if (part.lasting > 0) {
    more += std::string(more.empty() ? "" : "; ") + count_text(part.lasting) + " now";
    if (part.oldest.ns > 0) more += ", the longest for " + age_text(part.oldest);
  }
  return more.empty() ? text : text + " (" + more + ")";
}

std::string line_of(std::string_view what, const std::vector<UnitPart>& parts,
                    const Places& places) {
  std::string line =
      std::string(what) + ": " + threads_text(threads_of(parts)) + " threads on average";
  for (std::size_t i = 0; i < parts.size() && i < kMostUnits; ++i) {
    line += (i == 0 ? ": " : ", ") + part_text(parts[i], places);
  }
  if (parts.size() > kMostUnits) line += ", and more";
  return line;
}

// The longest first.
std::vector<std::string> waits(const SiteWindow& window, double seconds,
                               std::chrono::nanoseconds since, const Places& places) {
  std::vector<std::pair<double, std::string>> lines;
  double rest = 0;
  for (const auto& each : kActionable) {
    const auto parts = parts_of(window, each.wait_for, seconds, since);
    const double threads = threads_of(parts);
    if (threads >= kThreadsWorthALine) {
      lines.emplace_back(threads, line_of(each.text, parts, places));
    } else {
      rest += threads;
    }
  }
  if (lines.empty()) {
    return {"nobody waits for a lock, an answer, storage or memory (" + threads_text(rest) +
            " threads on average)"};
  }
  std::ranges::stable_sort(lines, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> texts;
  texts.reserve(lines.size());
  for (auto& [threads, text] : lines) texts.push_back(std::move(text));
  return texts;
}

std::string cpu_line(const View& view) {
  if (view.history.empty()) return {};
  const std::vector<UnitPart> parts = cpu_parts(view);
  return threads_of(parts) < kThreadsWorthALine ? std::string()
                                                : line_of("waiting for a CPU", parts, {});
}

std::string stalls_line(const View& view) {
  std::array<std::size_t, kWaitForNames.size() + 1> counts{};  // the last: by reason
  WaitAge longest;
  std::size_t all = 0;
  if (!view.stalls) return {};
  for (const auto& stall : view.stalls->stalls) {
    if (stall->ended) continue;
    ++all;
    ++counts[stall->wait ? static_cast<std::size_t>(stall->wait->wait_for) : counts.size() - 1];
    longest.merge({.ns = stall->duration_ns, .estimated = stall->estimated});
  }
  for (const UnlistedStalls& each : view.stalls->unlisted) {
    longest.merge(each.oldest);
  }
  // Stacks decide who is stalled, so nobody knows before they were examined.
  const bool is_known = !view.stalls->examines || !view.site_history.empty();
  if (all == 0) return is_known ? "stalls: none" : "stalls: not known yet";
  std::string line = "stalls: " + count_text(all);
  if (const std::uint64_t beyond = view.stalls->beyond_limit(); beyond > 0) {
    line += " told, " + count_text(beyond) + " more beyond the limit";
  }
  const char* separator = ": ";
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const std::string_view name = i < kWaitForNames.size() ? kWaitForNames[i] : "by reason";
    line += separator + std::string(name) + " " + count_text(counts[i]);
    separator = ", ";
  }
  return line + "; the longest for " + age_text(longest);
}

// Apart from stalls: it is not certain that anybody suffers.
std::string unusual_line(const View& view) {
  if (view.unusual.empty()) return {};
  std::map<std::string, std::size_t> units;
  WaitAge longest;
  for (const UnusualWait& wait : view.unusual) {
    ++units[unit_name(wait.stall->labels->cgroup)];
    longest.merge({.ns = wait.stall->duration_ns, .estimated = wait.stall->estimated});
  }
  std::string line =
      "unusually long, and nobody can tell what for: " + counted(view.unusual.size(), "wait");
  std::size_t named = 0;
  for (const auto& [unit, count] : units) {
    if (named++ == kMostUnits) break;
    line += (named == 1 ? ": " : ", ") + count_text(count) + of_unit("in", unit);
  }
  if (units.size() > kMostUnits) line += ", and more";
  return line + "; the longest for " + age_text(longest);
}

std::string idle_line(const SiteWindow& window, double seconds) {
  ForSums sums;
  for (const CgroupWaits& waits : window.sites) sums.add(waits, true);
  sums.add_unknown(window.lost_ns);
  const auto threads = [&](WaitFor wait_for) {
    return threads_text(sums.of(wait_for).ns * 1e-9 / seconds);
  };
  const double children = sums.children_ns() * 1e-9 / seconds;
  return "idle: " + threads(WaitFor::Work) + " threads wait for work, " + threads(WaitFor::Timer) +
         " for a timer" +
         (children < kThreadsWorthALine
              ? ""
              : ", " + threads_text(children) + " for their own children") +
         "; of " + threads(WaitFor::Unknown) + " nobody can tell";
}

}  // namespace

std::vector<std::string> waiting_now(const View& view, bool with_sites) {
  std::vector<std::string> lines;
  const SiteWindow* window = view.site_history.empty() ? nullptr : view.site_history.back().get();
  const double seconds =
      window != nullptr ? std::chrono::duration<double>(window->length()).count() : 0;
  if (window != nullptr) {
    lines = waits(*window, seconds, view.taken - window->end,
                  {.window = view.waits.get(), .told = with_sites});
  } else {
    const bool examines = view.stalls && view.stalls->examines;
    const std::string first = first_look_text(view);
    lines.push_back(
        !examines ? "what threads wait for is not known: stacks are not sampled"
                  : "what threads wait for is not known yet: " +
                        (first.empty() ? "no stack was examined within the last minute" : first));
  }
  for (std::string& line : std::vector{cpu_line(view), stalls_line(view), unusual_line(view)}) {
    if (!line.empty()) lines.push_back(std::move(line));
  }
  if (window != nullptr) lines.push_back(idle_line(*window, seconds));
  return lines;
}

}  // namespace offcpud
