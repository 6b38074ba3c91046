// SPDX-License-Identifier: Apache-2.0
#include "why/hops.h"

#include <algorithm>
#include <set>
#include <utility>

namespace offcpud {
namespace {

using Does = WhyHop::Does;
using Kind = Cause::Kind;

constexpr double kLeastShare = 0.2;  // of a cause that is followed
constexpr double kLeastThreads = 0.05;

constexpr std::size_t index_of(WaitFor wait_for) {
  return static_cast<std::size_t>(wait_for);
}

bool is_somebody(Kind kind) {
  return kind == Kind::Unit || kind == Kind::Holder || kind == Kind::Remote ||
         kind == Kind::Device || kind == Kind::Self || kind == Kind::Kernel;
}

bool is_unit(Kind kind) {
  return kind == Kind::Unit || kind == Kind::Holder;
}

const Cause* cause_for(const UnitCauses& tree, std::size_t for_kind) {
  const auto found = std::ranges::find(tree.causes, for_kind, &Cause::for_kind);
  return found != tree.causes.end() ? &*found : nullptr;
}

class PathFinder {
 public:
  PathFinder(WhyUnits& units, const std::string& unit) : units_(units) { seen_.insert(unit); }

  WhyPath find(const std::string& unit, const Cause& cause) {
    add_waiting(unit, cause, true);
    walk(cause, true);
    return std::move(path_);
  }

 private:
  WhyHop& add(WhyHop hop) { return path_.hops.emplace_back(std::move(hop)); }

  void add_waiting(const std::string& unit, const Cause& cause, bool attributed) {
    const bool idles = cause.for_kind == index_of(WaitFor::Work);
    add({.name = unit,
         .does = idles ? Does::Idles : Does::Waits,
         .for_kind = cause.for_kind,
         .site = cause.name,
         .threads = cause.threads,
         .attributed = attributed});
  }

  // The largest part that is somebody who is not in the path yet.
  [[nodiscard]] const Cause* largest_part(const Cause& cause) const {
    for (const Cause& part : cause.parts) {
      if (!is_somebody(part.kind) || part.threads < kLeastShare * cause.threads) continue;
      if (is_unit(part.kind) && seen_.contains(part.name) && part.kind != Kind::Holder) continue;
      return &part;
    }
    return nullptr;
  }

  void add_unknown(const Cause& cause) {
    const Cause* most = nullptr;  // of what is unknown
    for (const Cause& part : cause.parts) {
      if (part.kind != Kind::Unknown || part.because.empty()) continue;
      if (most == nullptr || part.threads > most->threads) most = &part;
    }
    add({.kind = Kind::Unknown,
         .for_kind = cause.for_kind,
         .because = most != nullptr && most->threads >= kLeastShare * cause.threads
                        ? most->because
                        : "it is many, and none has a fifth of it"});
  }

  // Whom `cause` waits for.
  void walk(const Cause& cause, bool attributed) {
    const Cause* const part = largest_part(cause);
    if (part == nullptr) return add_unknown(cause);
    WhyHop hop{.kind = part->kind,
               .name = part->name,
               .process = part->process,
               .pid = part->pid,
               .does = Does::End,
               .for_kind = part->for_kind,
               .threads = part->threads,
               .attributed = attributed,
               .because = part->because};
    if (part->kind == Kind::Device) hop.because = loads_of(*part);
    const bool followed = part->kind == Kind::Unit && cause.for_kind != kForCpu &&
                          path_.hops.size() + 1 < WhyPath::kMostHops &&
                          seen_.insert(part->name).second;
    if (!followed) {
      add(std::move(hop));
    } else if (!part->parts.empty()) {
      follow_chain(*part, std::move(hop));
    } else {
      follow_meanwhile(std::move(hop));
    }
  }

  // By what chains tell of this very wait.
  void follow_chain(const Cause& part, WhyHop hop) {
    const Cause& next = part.parts.front();
    hop.threads = next.threads;
    switch (next.kind) {
      case Kind::Runs:
        hop.does = Does::Runs;
        break;
      case Kind::Nobody:
        hop.does = Does::Sleeps;
        break;
      case Kind::Unit:
        hop.does = Does::Waits;
        hop.for_kind = part.for_kind;
        add(std::move(hop));
        return walk(part, true);
      case Kind::Device:
        hop.does = Does::Waits;
        hop.for_kind = index_of(WaitFor::Storage);
        add(std::move(hop));
        return walk(part, true);
      case Kind::For:
        hop.does = Does::Waits;
        hop.for_kind = next.for_kind;
        break;
      default:
        return follow_meanwhile(std::move(hop));
    }
    add(std::move(hop));
  }

  // By what the unit does most, for whomever.
  void follow_meanwhile(WhyHop hop) {
    const std::string unit = hop.name;
    const UnitCauses& tree = units_.of(unit);
    const Cause* const most = main_cause(tree, kLeastThreads);
    const double waits = most ? most->threads : 0;
    hop.attributed = false;
    if (tree.running >= std::max(waits, kLeastThreads)) {
      hop.does = Does::Runs;
      hop.threads = tree.running;
    } else if (most) {
      hop.does = Does::Waits;
      hop.for_kind = most->for_kind;
      hop.site = most->name;
      hop.threads = waits;
      add(std::move(hop));
      return walk(*most, false);
    } else if (const Cause* work = cause_for(tree, index_of(WaitFor::Work));
               work && largest_part(*work) && is_unit(largest_part(*work)->kind)) {
      hop.does = Does::Idles;
      hop.for_kind = work->for_kind;
      hop.threads = work->threads;
      add(std::move(hop));
      return walk(*work, false);
    } else if (const Cause* timer = cause_for(tree, index_of(WaitFor::Timer));
               timer && timer->threads >= kLeastThreads) {
      hop.does = Does::Sleeps;
      hop.for_kind = timer->for_kind;
      hop.site = timer->name;
      hop.threads = timer->threads;
    } else if (hop.because.empty()) {
      hop.because = "it hardly waits or runs in this window";
    }
    add(std::move(hop));
  }

  // "batch.service 83 %, db.service 9 %"
  static std::string loads_of(const Cause& device) {
    std::string text;
    for (const Cause& load : device.parts) {
      if (load.load < 0.05) break;
      const int percent = static_cast<int>(load.load * 100 + 0.5);
      text += (text.empty() ? "" : ", ") + load.name + " " + std::to_string(percent) + " %";
    }
    return text.empty() ? device.because : "loaded by " + text;
  }

  WhyUnits& units_;
  std::set<std::string> seen_;
  WhyPath path_;
};

}  // namespace

const WhyHop* WhyPath::culprit() const {
  if (hops.size() < 2) return nullptr;
  const WhyHop& last = hops.back();
  return last.kind == Kind::Unknown ? nullptr : &last;
}

WhyPath follow(WhyUnits& units, const std::string& unit, const Cause& cause) {
  return PathFinder(units, unit).find(unit, cause);
}

}  // namespace offcpud
