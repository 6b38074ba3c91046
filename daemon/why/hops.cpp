// SPDX-License-Identifier: Apache-2.0
#include "why/hops.h"

#include <algorithm>
#include <set>
#include <utility>

#include "why/cause_parts.h"
#include "why/cpu_takers.h"

namespace offcpud {
namespace {

using Does = WhyHop::Does;
using Kind = Cause::Kind;

constexpr double kLeastShareOfCause = 0.2;  // of a cause that is followed
constexpr double kLeastSent = 0.01;         // threads that wait for work of one unit
constexpr double kMostly = 0.5;             // of the time that a unit is busy with other requests
constexpr double kLeastQueued = 0.05;       // of the waits for a unit: its own wait for a CPU then

bool is_somebody(Kind kind) {
  return kind == Kind::Unit || kind == Kind::Remote || kind == Kind::Device || kind == Kind::Self ||
         kind == Kind::Kernel;
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
  // What follows from something that is over is over, too.
  void add(WhyHop hop) {
    hop.over = over_ = over_ || hop.over;
    path_.hops.push_back(std::move(hop));
  }

  void add_waiting(const std::string& unit, const Cause& cause, bool attributed) {
    const bool idles = cause.for_kind == index_of(WaitFor::Work);
    WhyHop hop{.name = unit,
               .does = idles ? Does::Idles : Does::Waits,
               .for_kind = cause.for_kind,
               .site = cause.name,
               .threads = cause.threads,
               .attributed = attributed,
               .over = cause.over,
               .over_within = cause.over_within,
               .gone = units_.of(unit).gone};
    for (const UnitWaiter& waiter : units_.inputs().waiters.of(unit)) {
      if (index_of(waiter.wait_for) != cause.for_kind) continue;
      hop.process = waiter.process;
      hop.pid = waiter.pid;
    }
    add(std::move(hop));
  }

  // The largest part that is somebody who is not in the path yet.
  [[nodiscard]] const Cause* largest_part(const Cause& cause) const {
    for (const Cause& part : cause.parts) {
      if (!is_somebody(part.kind) || part.threads < kLeastShareOfCause * cause.threads) continue;
      if (part.kind == Kind::Unit && seen_.contains(part.name)) continue;
      return &part;
    }
    return nullptr;
  }

  // The unit, not in the path yet, that sends most of the work that threads wait for. Threads to
  // which nobody sends any, as those of pools, do not count.
  [[nodiscard]] const Cause* sender_of(const Cause& work) const {
    const Cause* most = nullptr;
    double all = 0;
    for (const Cause& part : work.parts) {
      if (part.kind != Kind::Unit) continue;
      all += part.threads;
      if (!seen_.contains(part.name) && (!most || part.threads > most->threads)) most = &part;
    }
    return most && most->threads >= std::max(kLeastSent, kLeastShareOfCause * all) ? most : nullptr;
  }

  void add_unknown(const Cause& cause) {
    const Cause* most = nullptr;  // of what is unknown
    for (const Cause& part : cause.parts) {
      const bool is_passed = part.kind == Kind::Unit && seen_.contains(part.name);
      if (is_passed && part.threads >= kLeastShareOfCause * cause.threads) {
        add({.kind = Kind::Unknown,
             .for_kind = cause.for_kind,
             .because = "it waits for " + part.name + " in turn"});
        return;
      }
      if (part.kind != Kind::Unknown || part.because.empty()) continue;
      if (most == nullptr || part.threads > most->threads) most = &part;
    }
    add({.kind = Kind::Unknown,
         .for_kind = cause.for_kind,
         .because = most != nullptr && most->threads >= kLeastShareOfCause * cause.threads
                        ? most->because
                        : "it is many, and none has a fifth of it",
         .released = cause.released});
  }

  // The share of `part` in what is known of `cause`. Waits of which a later look may know more are
  // left out: they may be for `part`, too.
  static double part_of_known(const Cause& part, const Cause& cause) {
    double known = cause.threads;
    for (const Cause& other : cause.parts) {
      if (other.kind == Kind::Unknown && is_not_yet(other.because)) known -= other.threads;
    }
    return known > part.threads ? part.threads / known : 1;
  }

  // Whom `cause` waits for.
  void walk(const Cause& cause, bool attributed) {
    const Cause* const part = largest_part(cause);
    if (part == nullptr) return add_unknown(cause);
    if (path_.hops.size() == 1) path_.followed = part_of_known(*part, cause);
    step_to(*part, attributed);
  }

  // A holder that may be any thread of a process is followed as a unit.
  void step_to(const Cause& part, bool attributed) {
    if (part.holder && part.holder->is_thread) return follow_holder(part, attributed);
    WhyHop hop{.kind = part.kind,
               .name = part.name,
               .process = part.process,
               .pid = part.pid,
               .does = Does::End,
               .for_kind = part.for_kind,
               .threads = part.threads,
               .attributed = attributed,
               .because = part.because,
               .holder = part.holder,
               .released = part.released};
    const bool has_room = path_.hops.size() + 1 < WhyPath::kMostHops;
    const bool followed = part.kind == Kind::Unit && part.for_kind != kForCpu && has_room &&
                          seen_.insert(part.name).second;
    const Cause* const most =
        followed || (part.kind == Kind::Self && has_room) ? largest_deed(part) : nullptr;
    if (part.kind == Kind::Device) {
      add_device(std::move(hop), part.load);
    } else if (most != nullptr) {
      follow_during(std::move(hop), part, *most);
    } else if (followed) {
      follow_meanwhile(std::move(hop));
    } else {
      add(std::move(hop));
    }
  }

  // A device, and the unit that loads it, if it is one.
  // `known`: what the tree of who waits says of it; null: no tree has this device.
  void add_device(WhyHop device, const std::shared_ptr<const DeviceLoad>& known) {
    const DeviceLoad load =
        known ? *known : load_of(units_.inputs(), device.name, path_.hops.back().name);
    const bool has_room = path_.hops.size() + 1 < WhyPath::kMostHops;
    const DeviceLoad::Part* const loader = has_room ? loader_to_blame(load) : nullptr;
    if (loader == nullptr) device.because = clause_of(load);
    const std::size_t for_kind = device.for_kind;
    add(std::move(device));
    if (loader == nullptr) return;
    add({.name = loader->unit,
         .does = Does::Loads,
         .for_kind = for_kind,
         .because = load_text(load, *loader)});
  }

  // What the unit, or the one for whom others of it waited, did for most of that time; null: not
  // known, or not for sure, or what is unknown is more. Waits for work say nothing about who waits
  // for it.
  [[nodiscard]] static const Cause* largest_deed(const Cause& part) {
    double unknown = 0;
    for (const Cause& deed : part.parts) {
      if (deed.kind == Kind::Unknown) unknown += deed.threads;
    }
    for (const Cause& deed : part.parts) {
      if (deed.kind == Kind::For && deed.for_kind == index_of(WaitFor::Work)) continue;
      const bool is_known = deed.kind == Kind::Runs || deed.kind == Kind::Busy ||
                            (deed.kind == Kind::For && deed.for_kind != index_of(WaitFor::Unknown));
      const bool is_sure = deed.threads >= std::max(unknown, kLeastShareOfCause * part.threads) &&
                           deed.threads > 2 * deed.error;
      return is_known && is_sure ? &deed : nullptr;
    }
    return nullptr;
  }

  // By what the unit did during the waits for it.
  void follow_during(WhyHop hop, const Cause& part, const Cause& most) {
    hop.threads = most.threads;
    hop.share = most.threads / part.threads;
    if (most.kind != Kind::Busy) return follow_deed(std::move(hop), part, most);
    hop.busy = true;
    hop.does = Does::Unknown;
    const Cause* const deed = largest_deed(most);
    if (deed == nullptr || deed->threads < kMostly * most.threads) return add(std::move(hop));
    follow_deed(std::move(hop), most, *deed);
  }

  void follow_deed(WhyHop hop, const Cause& part, const Cause& most) {
    const bool attributed = hop.attributed;
    if (most.kind == Kind::Runs) {
      hop.does = Does::Runs;
      hop.or_queued = !most.because.empty();
      if (!hop.busy) add_queued(hop, part);
      add(std::move(hop));
      return;
    }
    const bool sleeps = most.for_kind == index_of(WaitFor::Timer);
    hop.does = sleeps ? Does::Sleeps : Does::Waits;
    hop.for_kind = most.for_kind;
    add(std::move(hop));
    if (most.for_kind == kForCpu) {
      add_taker(most.of);
    } else if (!sleeps) {
      walk(most, attributed);
    }
  }

  // How much a unit that mostly runs also waits for a CPU, if that is much and sure.
  void add_queued(WhyHop& hop, const Cause& part) const {
    for (const Cause& deed : part.parts) {
      if (deed.kind != Kind::For || deed.for_kind != kForCpu) continue;
      if (deed.threads < kLeastQueued * part.threads || deed.threads < 2 * deed.error) continue;
      hop.queued = deed.threads / part.threads;
      const auto taker = main_taker(units_.inputs(), deed.of);
      if (taker) hop.behind = behind_text(*taker, deed.of);
    }
  }

  // Who had the CPU while the unit waited for one, in the whole window.
  void add_taker(const std::string& unit) {
    const WhyInputs& inputs = units_.inputs();
    const auto taker = main_taker(inputs, unit);
    if (!taker) {
      return add({.kind = Kind::Unknown,
                  .for_kind = kForCpu,
                  .because = inputs.takers.known()
                                 ? "nobody had it for half of all such waits in this window"
                                 : inputs.takers.missing});
    }
    add({.kind = taker->kind,
         .name = taker->name,
         .does = Does::End,
         .for_kind = kForCpu,
         .threads = taker->threads,
         .share = taker->share,
         .behind = behind_text(*taker, unit)});
  }

  // From holder to holder, and from the last one to whom that waits for.
  void follow_holder(const Cause& part, bool attributed) {
    Kind kind = part.kind;
    const UnitHolder* last = nullptr;
    for (auto at = part.holder; at && path_.hops.size() + 1 < WhyPath::kMostHops; at = at->next) {
      if (!at->is_thread) {
        return step_to({.kind = Kind::Unit,
                        .for_kind = index_of(WaitFor::Lock),
                        .name = at->by,
                        .process = at->process,
                        .pid = at->pid,
                        .threads = 1,
                        .holder = at},
                       false);
      }
      last = at.get();
      add({.kind = kind,
           .name = at->by,
           .process = at->process,
           .pid = at->pid,
           .does = deed_of(*at),
           .for_kind = index_of(at->wait_for),
           .site = at->site,
           .threads = part.threads,
           .attributed = attributed,
           .or_queued = at->does == UnitHolder::Does::Runs,
           .because = "no wait of it has lasted",
           .holder = at});
      seen_.insert(at->by);
      kind = Kind::Unit;
      attributed = false;
    }
    if (!last || last->does != UnitHolder::Does::Waits) return;
    const UnitPeer& on = last->on;
    const Cause next{.kind = kind_of(on.kind),
                     .for_kind = index_of(last->wait_for),
                     .name = on.on,
                     .process = on.process,
                     .pid = on.pid,
                     .threads = 1};
    const bool is_new = next.kind != Kind::Unit || !seen_.contains(next.name);
    if (is_somebody(next.kind) && is_new) step_to(next, false);
  }

  static Does deed_of(const UnitHolder& holder) {
    switch (holder.does) {
      case UnitHolder::Does::Runs:
        return Does::Runs;
      case UnitHolder::Does::Waits:
        if (holder.wait_for == WaitFor::Timer) return Does::Sleeps;
        return holder.wait_for == WaitFor::Work ? Does::Idles : Does::Waits;
      case UnitHolder::Does::Deadlocked:
        return Does::Waits;
      case UnitHolder::Does::Unknown:
        break;
    }
    return Does::Unknown;
  }

  // By what the unit does most, for whomever.
  void follow_meanwhile(WhyHop hop) {
    const UnitCauses& tree = units_.of(hop.name);
    const double waited = hop.threads;  // that wait for the unit
    const Cause* const most = main_cause(tree);
    const double waits = most ? most->threads : 0;
    hop.attributed = false;
    if (!explains(tree, std::max(tree.running, waits), waited)) {
      follow_idle(std::move(hop), tree);
    } else if (!most || tree.running >= waits) {
      hop.does = Does::Runs;
      hop.threads = tree.running;
      add(std::move(hop));
    } else {
      add_deed(std::move(hop), Does::Waits, *most);
      walk(*most, false);
    }
  }

  // Whether this many threads of the unit may be what `waited` threads wait for. One thread that
  // serves all of them in turn is enough; much less than one is not, nor are few beside many that
  // sleep.
  static bool explains(const UnitCauses& tree, double threads, double waited) {
    if (threads < std::max(kLeastThreads, kLeastShareOfCause * std::min(1.0, waited))) return false;
    const Cause* const timer = cause_for(tree, index_of(WaitFor::Timer));
    const bool many_sleep = timer && timer->threads >= waited / 2;
    return !many_sleep || threads >= kLeastShareOfCause * waited;
  }

  // A unit that neither runs nor waits for what somebody may act on: it sleeps, or waits for others
  // to send it work.
  void follow_idle(WhyHop hop, const UnitCauses& tree) {
    const Cause* const timer = cause_for(tree, index_of(WaitFor::Timer));
    const Cause* const work = cause_for(tree, index_of(WaitFor::Work));
    const Cause* const sender = work ? sender_of(*work) : nullptr;
    const double sleeps = timer ? timer->threads : 0;
    if (sender && sender->threads >= sleeps) {
      add_deed(std::move(hop), Does::Idles, *work);
      return step_to(*sender, false);
    }
    if (sleeps >= kLeastThreads) return add_deed(std::move(hop), Does::Sleeps, *timer);
    hop.does = Does::Unknown;
    hop.because = work && work->threads >= kLeastThreads ? "it only waits for work"
                  : tree.unknown >= kLeastThreads        ? "nobody can tell what it waits for"
                                                         : "it hardly waits or runs in this window";
    add(std::move(hop));
  }

  void add_deed(WhyHop hop, Does does, const Cause& cause) {
    hop.does = does;
    hop.over = cause.over;
    hop.for_kind = cause.for_kind;
    if (does != Does::Idles) hop.site = cause.name;
    hop.threads = cause.threads;
    add(std::move(hop));
  }

  WhyUnits& units_;
  std::set<std::string> seen_;
  WhyPath path_;
  bool over_ = false;  // what was added last
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
