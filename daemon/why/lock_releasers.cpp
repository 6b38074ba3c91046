// SPDX-License-Identifier: Apache-2.0
#include "why/lock_releasers.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/amount_text.h"
#include "base/no_unit.h"

namespace offcpud {
namespace {

using Releaser = LockReleasers::By;

constexpr std::uint32_t kLeastSeen = 3;
constexpr double kOne = 0.5;
constexpr std::size_t kMostTold = 3;

// How finely releasers are told apart: as finely as possible while one of them has half of the
// time; if none has, by the names of processes.
enum class Level : std::uint8_t { Thread, Process, Name };

// Unit, name and number of a process, name and number of a thread.
using Key = std::tuple<std::string, std::string, std::uint32_t, std::string, std::uint32_t>;

struct Sum {
  double ns = 0;
  std::set<std::pair<std::uint32_t, std::uint32_t>> threads;  // process and thread
};

Key key_of(const UnitRelease& row, Level level) {
  const bool process = level != Level::Name, thread = level == Level::Thread;
  return {row.by, row.process, process ? row.pid : 0, thread ? row.thread : std::string(),
          thread ? row.tid : 0};
}

// What was seen: the time of all, and how many equally long waits it is worth (Kish, Survey
// Sampling, 1965, 11.7).
struct Evidence {
  double ns = 0, squares = 0, nobody = 0;
  std::uint32_t seen = 0;

  [[nodiscard]] double worth() const { return squares > 0 ? ns * ns / squares : 0; }
};

// That of a share of which nothing was known before: a beta distribution. Never 0, however often
// the same was seen.
double deviation(double share, double worth) {
  const double mean = (share * worth + 1) / (worth + 2);
  return std::sqrt(mean * (1 - mean) / (worth + 3));
}

std::vector<Releaser> told_at(Level level, std::span<const UnitRelease> rows,
                              const std::string& site, const Evidence& evidence) {
  std::map<Key, Sum> sums;
  for (const UnitRelease& row : rows) {
    if (row.site != site || row.kind != UnitRelease::By::Thread) continue;
    Sum& sum = sums[key_of(row, level)];
    sum.ns += row.ns;
    sum.threads.emplace(row.pid, row.tid);
  }
  std::vector<Releaser> told;
  for (const auto& [key, sum] : sums) {
    const auto& [unit, process, pid, thread, tid] = key;
    const double share = sum.ns / evidence.ns;
    told.push_back({.unit = unit,
                    .process = process,
                    .pid = pid,
                    .thread = thread,
                    .tid = tid,
                    .threads = sum.threads.size(),
                    .share = share,
                    .error = deviation(share, evidence.worth())});
  }
  std::ranges::stable_sort(told, std::ranges::greater(), &Releaser::share);
  if (told.size() > kMostTold) told.resize(kMostTold);
  return told;
}

// "thread keeper (tid 12 of app, pid 9)", "postgres (pid 28704)", "java (pid 5, 8 threads)"
std::string who(const Releaser& by) {
  const std::string pid = by.pid != 0 ? "pid " + std::to_string(by.pid) : std::string();
  const bool is_main = by.tid != 0 && by.tid == by.pid;
  if (!by.thread.empty() && !is_main && by.thread != by.process) {
    std::string more = by.tid != 0 ? "tid " + std::to_string(by.tid) + " of " : "of ";
    more += by.process + (pid.empty() ? "" : ", " + pid);
    return "thread " + by.thread + " (" + more + ")";
  }
  std::string more = pid;
  if (!by.thread.empty() && !is_main && by.tid != 0) {
    more += (more.empty() ? "tid " : ", tid ") + std::to_string(by.tid);
  }
  if (by.threads > 1) more += (more.empty() ? "" : ", ") + counted(by.threads, "thread");
  return more.empty() ? by.process : by.process + " (" + more + ")";
}

}  // namespace

bool LockReleasers::is_one() const {
  return !by.empty() && by.front().share >= kOne;
}

std::shared_ptr<const LockReleasers> releasers_of(const Source<UnitRelease>& releases,
                                                  const std::string& unit,
                                                  const std::string& site) {
  const std::span<const UnitRelease> rows = releases.of(unit);
  Evidence evidence;
  for (const UnitRelease& row : rows) {
    if (row.site != site) continue;
    if (row.kind == UnitRelease::By::Nobody) {
      evidence.nobody += row.ns;
      continue;
    }
    evidence.ns += row.ns;
    evidence.squares += row.squares;
    evidence.seen += row.samples;
  }
  if (evidence.seen < kLeastSeen) return nullptr;
  auto found = std::make_shared<LockReleasers>();
  found->seen = evidence.seen;
  found->nobody = evidence.nobody / (evidence.nobody + evidence.ns);
  for (const Level level : {Level::Thread, Level::Process, Level::Name}) {
    found->by = told_at(level, rows, site, evidence);
    if (found->is_one()) break;
  }
  if (found->by.empty()) return nullptr;
  for (Releaser& by : found->by) by.own = by.unit == unit;
  return found;
}

std::string releasers_text(const LockReleasers& releasers) {
  const Releaser& most = releasers.by.front();
  return std::string(releasers.is_one() ? "usually released by "
                                        : "released by many, most often ") +
         who(most) + (most.own ? " of the same unit" : of_unit("of", most.unit)) + " (" +
         share_text(most.share) + " ± " + share_text(most.error) + " of the time of " +
         counted(releasers.seen, "wait") + " seen)";
}

}  // namespace offcpud
