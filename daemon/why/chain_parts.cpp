// SPDX-License-Identifier: Apache-2.0
#include "why/chain_parts.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "why/cause_parts.h"
#include "why/cpu_takers.h"

namespace offcpud {
namespace {

using Kind = Cause::Kind;

constexpr const char* kNotSeen = "what it did meanwhile was not seen";
constexpr const char* kNotFollowed =
    "these waits have not ended yet, or nobody saw which thread ended them";
constexpr const char* kMayBeQueued = "samples do not tell waits for a CPU apart";
constexpr double kLeastCovered = 0.2;  // of a part, by waits that ended
constexpr double kMostUntold = 0.05;   // of what runs, by samples alone: less is not worth a word

// Whether the last thread in the chain ran or waited for a CPU.
bool can_run(UnitChain::End end) {
  return end == UnitChain::End::Runs || end == UnitChain::End::OnCpu ||
         end == UnitChain::End::Queued;
}

bool is_of(const UnitChain& chain, const Cause& part) {
  return index_of(chain.wait_for) == part.for_kind && chain.on.kind == UnitPeer::On::Unit &&
         chain.on.on == part.name;
}

// What others did. For a lock that threads of one unit take in turn, the waits for that lock at the
// beginning are left out: what the thread does that has it is told.
std::span<const UnitChain::Step> steps_of(const UnitChain& chain, const Cause& part) {
  std::span<const UnitChain::Step> steps = chain.steps;
  const bool is_lock = part.kind == Kind::Self && part.for_kind == index_of(WaitFor::Lock);
  while (is_lock && !steps.empty() && steps.front().wait_for == WaitFor::Lock &&
         steps.front().on.kind == UnitPeer::On::Unit && steps.front().on.on == part.name) {
    steps = steps.subspan(1);
  }
  return steps;
}

Cause& part_of(Cause& node, const Cause& wanted) {
  const auto found = std::ranges::find_if(node.parts, [&](const Cause& part) {
    return part.kind == wanted.kind && part.name == wanted.name &&
           part.for_kind == wanted.for_kind &&
           (part.kind != Kind::Runs || part.because == wanted.because);
  });
  return found != node.parts.end() ? *found : node.parts.emplace_back(wanted);
}

// Adds amounts along the steps. Rows of one wait are sampled together, so their errors are added as
// they are, which is at most too much.
class ChainParts {
 public:
  ChainParts(const Rate& rate, double scale) : rate_(rate), scale_(scale) {}

  void add(Cause& node, const std::string& unit, std::span<const UnitChain::Step> steps,
           const UnitChain& chain) {
    const bool is_busy = chain.busy_after == chain.steps.size() - steps.size();
    if (is_busy && node.kind != Kind::Busy) {
      const Cause wanted{.kind = Kind::Busy, .for_kind = node.for_kind, .name = unit, .of = unit};
      Cause& busy = part_of(node, wanted);
      count(busy, chain);
      return add(busy, unit, steps, chain);
    }
    if (steps.empty()) return end(node, unit, chain);
    const std::size_t for_kind = index_of(steps.front().wait_for);
    Cause& what = part_of(node, {.kind = Kind::For, .for_kind = for_kind, .of = unit});
    count(what, chain);
    const UnitPeer& on = steps.front().on;
    const bool own = on.kind == UnitPeer::On::Unit && on.on == unit;
    Cause& who = part_of(what, {.kind = own ? Kind::Self : kind_of(on.kind),
                                .for_kind = for_kind,
                                .name = on.on,
                                .because = on.kind == UnitPeer::On::Unknown ? kNotKnown : ""});
    count(who, chain);
    if (steps.size() == 1 && !can_run(chain.end)) return;
    if (on.kind == UnitPeer::On::Unit) return add(who, on.on, steps.subspan(1), chain);
    count(part_of(who, {.kind = Kind::Unknown, .for_kind = for_kind, .because = kNotSeen}), chain);
  }

 private:
  static constexpr const char* kNotKnown = "whom it waited for is not known";

  void end(Cause& node, const std::string& unit, const UnitChain& chain) {
    Cause wanted{.kind = Kind::Unknown, .for_kind = node.for_kind, .because = kNotSeen};
    if (chain.end == UnitChain::End::Queued) {
      wanted = {.kind = Kind::For, .for_kind = kForCpu, .of = unit};
    } else if (can_run(chain.end)) {
      wanted = {.kind = Kind::Runs, .for_kind = node.for_kind, .name = unit, .of = unit};
      if (chain.end == UnitChain::End::Runs) wanted.because = kMayBeQueued;
    }
    count(part_of(node, wanted), chain);
  }

  void count(Cause& node, const UnitChain& chain) const {
    node.threads += scale_ * rate_.threads(chain.time.ns);
    node.error += scale_ * rate_.error(chain.time.variance_ns2);
  }

  const Rate& rate_;
  double scale_;
};

// Joins the two parts in which the unit ran: one by accounts, the other by samples, which do not
// tell waits for a CPU apart.
void join_runs(Cause& node) {
  const auto runs = std::ranges::find(node.parts, Kind::Runs, &Cause::kind);
  if (runs == node.parts.end()) return;
  const auto more = std::find_if(runs + 1, node.parts.end(),
                                 [](const Cause& part) { return part.kind == Kind::Runs; });
  if (more == node.parts.end()) return;
  const double untold = runs->because.empty() ? more->threads : runs->threads;
  runs->threads += more->threads;
  runs->error += more->error;
  runs->because = untold > kMostUntold * runs->threads ? kMayBeQueued : "";
  node.parts.erase(more);
}

// From the top, so that what fits into a node fits into its part of the node above.
void finish(Cause& node, const WhyInputs& inputs, const char* rest_because) {
  if (node.kind == Kind::For && node.for_kind == kForCpu) {
    const auto taker = main_taker(inputs, node.of);
    if (taker) node.because = behind_text(*taker, node.of);
  }
  if (node.parts.empty()) return;
  join_runs(node);
  fit(node, rest_because);
  for (Cause& part : node.parts) finish(part, inputs, kNotSeen);
}

}  // namespace

void divide_by_chains(Cause& part, const WhyInputs& inputs, const std::string& unit) {
  const bool is_unit = part.kind == Kind::Unit || part.kind == Kind::Self;
  if (!is_unit || part.threads <= kNothing) return;
  const Rate rate(inputs.chains.seconds);
  double seen = 0, known = 0;
  for (const UnitChain& chain : inputs.chains.of(unit)) {
    if (!is_of(chain, part)) continue;
    const double threads = rate.threads(chain.time.ns);
    seen += threads;
    const auto steps = steps_of(chain, part);
    const bool is_known = steps.empty() ? can_run(chain.end) || chain.busy_after.has_value()
                                        : steps.front().wait_for != WaitFor::Unknown;
    if (is_known) known += threads;
  }
  if (known < kLeastCovered * part.threads) return;
  ChainParts parts(rate, std::min(1.0, part.threads / seen));  // never more than was seen
  for (const UnitChain& chain : inputs.chains.of(unit)) {
    if (is_of(chain, part)) parts.add(part, part.name, steps_of(chain, part), chain);
  }
  finish(part, inputs, kNotFollowed);
}

}  // namespace offcpud
