// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "base/amount_text.h"
#include "why/cause.h"
#include "why/cause_parts.h"
#include "why/chain_parts.h"
#include "why/cpu_takers.h"

namespace offcpud {
namespace {

constexpr std::array<std::string_view, kForKinds> kNames = {
    "lock", "answer", "storage", "memory", "stopped",
    "work", "timer",  "unknown", "cpu",    "throttled"};
constexpr std::array<std::string_view, kForKinds> kWords = {
    "for a lock",      "for an answer",
    "for storage",     "for memory",
    "to be continued", "for work",
    "for a timer",     "for something that nobody can tell",
    "for a CPU",       "for a CPU by cpu.max"};

constexpr const char* kNoFile =
    "its file was not seen: neither a page or block nor a descriptor of its call tells it";
constexpr const char* kIoUring =
    "a wait in io_uring ends with any of its requests, and the kernel does not say with which";

// Makes the tree of one unit.
class TreeMaker {
 public:
  TreeMaker(const WhyInputs& inputs, const std::string& unit) : inputs_(inputs) {
    tree_.unit = unit;
  }

  UnitCauses make() {
    add_sites();
    add_cpu();
    for (auto& [for_kind, node] : nodes_) {
      if (node.threads <= kNothing) continue;
      set_past(node);
      add_parts(node);
      sum_up(node);
      tree_.causes.push_back(std::move(node));
    }
    tree_.error = std::sqrt(variance_);
    const auto rank = [](const Cause& node) {
      return std::tuple(!is_actionable_for(node.for_kind), node.over, -node.threads);
    };
    std::ranges::stable_sort(tree_.causes, {}, rank);
    return std::move(tree_);
  }

 private:
  Cause& node_of(std::size_t for_kind) {
    Cause& node = nodes_[for_kind];
    node.kind = Cause::Kind::For;
    node.for_kind = for_kind;
    return node;
  }

  void set_past(Cause& node) {
    for (const UnitPast& past : inputs_.past.of(tree_.unit)) {
      tree_.gone = tree_.gone || past.is_gone;
      if (past.for_kind != node.for_kind) continue;
      node.over = true;
      node.over_within = past.within_seconds;
    }
  }

  // Without waits for children: these have rows of their own, which say what everybody waits for.
  void add_sites() {
    const Rate rate(inputs_.sites.seconds);
    std::map<std::size_t, double> variances;
    for (const UnitSite& site : inputs_.sites.of(tree_.unit)) {
      Cause& node = node_of(index_of(site.wait_for));
      const double threads = rate.threads(std::max(0.0, site.time.ns - site.child.ns));
      const double variance = std::max(0.0, site.time.variance_ns2 - site.child.variance_ns2);
      tree_.children += rate.threads(site.child.ns);
      node.threads += threads;
      variances[node.for_kind] += variance;
      node.sites.push_back({.site = site.site,
                            .threads = threads,
                            .error = rate.error(variance),
                            .lasting = site.lasting,
                            .on_sockets = site.on_sockets,
                            .oldest = site.oldest});
    }
    for (const auto& [for_kind, variance] : variances) {
      Cause& node = nodes_[for_kind];
      node.error = rate.error(variance);
      std::erase_if(node.sites, [](const Cause::Site& site) { return site.threads <= kNothing; });
      std::ranges::stable_sort(node.sites, std::ranges::greater(), &Cause::Site::threads);
      if (!node.sites.empty()) node.name = node.sites.front().site;
    }
  }

  void add_cpu() {
    const Rate rate(inputs_.cpus.seconds);
    for (const UnitCpu& cpu : inputs_.cpus.of(tree_.unit)) {
      tree_.running += rate.threads(cpu.running_ns);
      if (cpu.queued_ns > 0) node_of(kForCpu).threads += rate.threads(cpu.queued_ns);
      if (cpu.throttled_ns > 0) node_of(kForThrottled).threads += rate.threads(cpu.throttled_ns);
    }
  }

  void add_parts(Cause& node) {
    if (node.for_kind == kForThrottled) {
      node.parts.push_back({.kind = Cause::Kind::Self,
                            .for_kind = node.for_kind,
                            .name = tree_.unit,
                            .threads = node.threads,
                            .because = "its own limit, cpu.max"});
      return;
    }
    if (node.for_kind == kForCpu) {
      add_takers(node);
      fit(node, inputs_.takers.known() ? "who had it is known only when a wait has ended"
                                       : inputs_.takers.missing);
      return;
    }
    const bool is_lock = node.for_kind == index_of(WaitFor::Lock);
    if (is_lock) node.released = releasers_of(inputs_.releases, own_unit(), node.name);
    add_peers(node);
    if (std::ranges::any_of(node.parts, [](const Cause& part) { return part.holder != nullptr; })) {
      node.released = nullptr;
    }
    fit(node, why_unknown(node));
    for (Cause& part : node.parts) divide_by_chains(part, inputs_, tree_.unit);
  }

  void add_takers(Cause& node) const {
    const Rate rate(inputs_.takers.seconds);
    for (const UnitTaker& taker : inputs_.takers.of(tree_.unit)) {
      node.parts.push_back({.kind = kind_of(taker.kind),
                            .for_kind = node.for_kind,
                            .name = taker.kind == UnitTaker::By::Same ? tree_.unit : taker.by,
                            .threads = rate.threads(taker.ns),
                            .because = taker.because});
    }
  }

  [[nodiscard]] bool is_process() const {
    return !inputs_.process.empty() && tree_.unit == inputs_.process;
  }

  // Whose threads are no others. Of a process this is its unit: who waits on whom is known by unit.
  [[nodiscard]] const std::string& own_unit() const {
    return is_process() ? inputs_.unit_of_process : tree_.unit;
  }

  void add_peers(Cause& node) const {
    const Rate rate(inputs_.peers.seconds);
    for (const UnitPeer& peer : inputs_.peers.of(tree_.unit)) {
      if (index_of(peer.wait_for) != node.for_kind || peer.kind == UnitPeer::On::Unknown) continue;
      const double ns = std::max(0.0, peer.time.ns - peer.child.ns);  // as in add_sites()
      const double variance = std::max(0.0, peer.time.variance_ns2 - peer.child.variance_ns2);
      const bool own = peer.kind == UnitPeer::On::Unit && peer.on == own_unit();
      auto holder = holder_in(peer.on, node);
      const bool is_lock = node.for_kind == index_of(WaitFor::Lock);
      node.parts.push_back({.kind = own ? Cause::Kind::Self : kind_of(peer.kind),
                            .for_kind = node.for_kind,
                            .name = peer.on,
                            .process = peer.process,
                            .pid = peer.pid,
                            .threads = rate.threads(ns),
                            .error = rate.error(variance),
                            .because = own && is_lock && !holder ? why_nobody_holds(node) : "",
                            .holder = holder,
                            .released = own && !holder ? node.released : nullptr,
                            .over = node.over});
      if (peer.kind != UnitPeer::On::Device) continue;
      node.parts.back().load =
          std::make_shared<const DeviceLoad>(load_of(inputs_, peer.on, tree_.unit));
    }
  }

  // The holder of this unit for whom most threads wait; one in a deadlock comes first, as that
  // never ends. Who holds the GIL is told only where most of the node waits for the GIL, and no
  // other holder is told there: the one says nothing of who waits for the other.
  [[nodiscard]] std::shared_ptr<const UnitHolder> holder_in(const std::string& by,
                                                            const Cause& node) const {
    const UnitHolder* most = nullptr;
    for (const UnitHolder& holder : inputs_.holders.of(tree_.unit)) {
      if (holder.by != by || index_of(holder.waiters_for) != node.for_kind) continue;
      const bool is_deadlocked = holder.does == UnitHolder::Does::Deadlocked;
      if (!is_deadlocked && holder.is_gil != (node.name == kGilSite)) continue;
      if (!most || rank_of(holder) > rank_of(*most)) most = &holder;
    }
    return most ? std::make_shared<const UnitHolder>(*most) : nullptr;
  }

  static std::pair<bool, std::uint32_t> rank_of(const UnitHolder& holder) {
    return {holder.does == UnitHolder::Does::Deadlocked, holder.waiting};
  }

  [[nodiscard]] std::string why_unknown(const Cause& node) const {
    if (node.for_kind == index_of(WaitFor::Memory))
      return "memory has no owner; see memory.high and memory.max";
    if (node.for_kind == index_of(WaitFor::Stopped)) return "who stopped it is not recorded";
    if (!inputs_.peers.known()) return inputs_.peers.missing;
    if (node.for_kind == index_of(WaitFor::Lock)) return why_nobody_holds(node);
    if (node.for_kind == index_of(WaitFor::Storage)) return kNoFile;
    if (node.name == "io-uring") return kIoUring;
    return is_young(node) ? std::string(kEndUnseen) : "the other end was not seen";
  }

  // Whether the waits at the site that is told are on sockets and all began after the last time
  // that the table of all sockets was filled, which happens once a minute. Only of sockets a later
  // look knows more.
  static bool is_young(const Cause& node) {
    constexpr std::uint64_t kMinuteNs = 60'000'000'000;
    if (node.over || node.sites.empty()) return false;
    const Cause::Site& site = node.sites.front();
    return site.on_sockets > 0 && site.oldest.ns > 0 && site.oldest.ns < kMinuteNs;
  }

  // By what looks at the locks have seen: a holder is told only if he was seen twice.
  [[nodiscard]] std::string why_nobody_holds(const Cause& node) const {
    if (node.over) return "nobody was seen twice to hold it while that lasted";
    if (!inputs_.unheld.known()) return "what looks at it saw is kept for the last window only";
    const UnitUnheld seen = unheld(node.name == kGilSite);
    std::uint32_t lasting = 0;
    for (const Cause::Site& site : node.sites) lasting += site.lasting;
    const std::uint32_t most =
        std::max({seen.changes_hands, seen.seen_once, seen.names_nobody, seen.no_single_holder});
    if (most == 0) {
      return lasting == 0 && is_any_lock(node.name) ? why_none_lasted(seen) : why_unseen(node.name);
    }
    const std::string during = ", during " + counted(most, "wait");
    if (most == seen.changes_hands) {
      return "it is held by many in turn: nobody held it at both looks" + during;
    }
    if (most == seen.seen_once) return std::string(kOneLook) + during;
    if (most == seen.no_single_holder) return why_no_single_holder(node.name) + during;
    return "it named nobody when it was looked at" + during;
  }

  // Of waits that last and that no look has told of. Those for a lock on a file are always looked
  // at.
  static std::string why_unseen(const std::string& site) {
    if (site == "file-lock") return std::string(kNoLook);
    if (site == kGilSite) return "the last looks at the program saw nobody wait for it";
    if (site != "kernel-lock") return "nobody can see who holds a lock of its kind";
    return "the kernel does not say who holds it; of its mutexes and semaphores it says so from "
           "6.16 on, with CONFIG_DETECT_HUNG_TASK_BLOCKER";
  }

  static std::string why_no_single_holder(const std::string& site) {
    return site == "file-lock" ? "no process alone has the locks on that file"
                               : "readers have it, of whom no name is kept";
  }

  // Few waits may all be for one holder.
  static std::string why_none_lasted(const UnitUnheld& seen) {
    constexpr double kMany = 10;
    if (seen.ended < kMany) {
      return std::string(kNoLook) + ": no wait had lasted for 0.4 s when a look asked who holds it";
    }
    return "it is held by many in turn: no wait lasted for the 0.4 s after which a look asks who "
           "holds it";
  }

  // Of the GIL or of all other locks. Of a process nothing is told apart from its unit.
  [[nodiscard]] UnitUnheld unheld(bool of_gil) const {
    const auto rows = inputs_.unheld.of(own_unit());
    const auto row = std::ranges::find(rows, of_gil, &UnitUnheld::is_gil);
    return row != rows.end() ? *row : UnitUnheld();
  }

  void sum_up(const Cause& node) {
    if (is_actionable_for(node.for_kind)) {
      tree_.actionable += node.threads;
      if (node.over) tree_.over += node.threads;
      variance_ += node.error * node.error;
    } else if (node.for_kind == index_of(WaitFor::Unknown)) {
      tree_.unknown += node.threads;
    } else {
      tree_.idle += node.threads;
    }
  }

  const WhyInputs& inputs_;
  UnitCauses tree_;
  std::map<std::size_t, Cause> nodes_;
  double variance_ = 0;
};

}  // namespace

Cause::Kind kind_of(UnitPeer::On on) {
  switch (on) {
    case UnitPeer::On::Unit:
      return Cause::Kind::Unit;
    case UnitPeer::On::Remote:
      return Cause::Kind::Remote;
    case UnitPeer::On::Device:
      return Cause::Kind::Device;
    case UnitPeer::On::Nobody:
      return Cause::Kind::Nobody;
    case UnitPeer::On::Others:
      return Cause::Kind::Others;
    case UnitPeer::On::Unknown:
      break;
  }
  return Cause::Kind::Unknown;
}

std::string_view name_of_for(std::size_t for_kind) {
  return kNames.at(for_kind);
}

std::string_view words_of_for(std::size_t for_kind) {
  return kWords.at(for_kind);
}

bool is_actionable_for(std::size_t for_kind) {
  return for_kind >= kForCpu || actionable(static_cast<WaitFor>(for_kind));
}

UnitCauses causes_of(const WhyInputs& inputs, const std::string& unit) {
  return TreeMaker(inputs, unit).make();
}

std::vector<std::string> units_in(const WhyInputs& inputs) {
  std::set<std::string> units;
  for (const UnitSite& row : inputs.sites.rows) units.insert(row.unit);
  for (const UnitCpu& row : inputs.cpus.rows) units.insert(row.unit);
  units.erase(inputs.process);
  return {units.begin(), units.end()};
}

bool UnitCauses::is_over() const {
  return !causes.empty() && std::ranges::all_of(causes, [](const Cause& cause) {
    return cause.over || !is_actionable_for(cause.for_kind);
  });
}

const Cause* main_cause(const UnitCauses& unit, double least) {
  const auto found = std::ranges::find_if(unit.causes, [least](const Cause& cause) {
    return is_actionable_for(cause.for_kind) && cause.threads >= least;
  });
  return found != unit.causes.end() ? &*found : nullptr;
}

}  // namespace offcpud
