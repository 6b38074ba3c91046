// SPDX-License-Identifier: Apache-2.0
#include "why/chain_parts.h"

#include <algorithm>
#include <cmath>

namespace offcpud {
namespace {

using Hop = UnitChain::Hop;

constexpr double kNanoseconds = 1e9;
constexpr double kNothing = 1e-6;  // threads

Cause cause_of(const Hop& hop, const std::string& at) {
  switch (hop.does) {
    case Hop::Does::Runs:
      return {.kind = Cause::Kind::Runs, .name = at};
    case Hop::Does::Queued:
      return {.kind = Cause::Kind::For, .for_kind = kForCpu, .name = at};
    case Hop::Does::Disk:
      return {.kind = Cause::Kind::Device,
              .for_kind = static_cast<std::size_t>(WaitFor::Storage),
              .name = hop.unit};
    case Hop::Does::Sleeps:
      return {.kind = Cause::Kind::Nobody,
              .for_kind = static_cast<std::size_t>(WaitFor::Timer),
              .name = at};
    case Hop::Does::Waits:
      return {.kind = Cause::Kind::Unit, .name = hop.unit};
    case Hop::Does::Unknown:
      break;
  }
  return {
      .kind = Cause::Kind::Unknown, .name = at, .because = "what it did then is no longer known"};
}

bool same(const Cause& a, const Cause& b) {
  return a.kind == b.kind && a.for_kind == b.for_kind && a.name == b.name;
}

Cause& part_like(Cause& node, Cause wanted) {
  for (Cause& part : node.parts) {
    if (same(part, wanted)) return part;
  }
  return node.parts.emplace_back(std::move(wanted));
}

// From the hop at `index` on: what the unit of `node` did.
void add_hops(Cause& node, const std::vector<Hop>& hops, std::size_t index, double threads,
              double variance) {
  Hop hop = hops[index];
  const bool waits = hop.does == Hop::Does::Waits;
  if (waits && index + 1 == hops.size()) hop.does = Hop::Does::Unknown;
  // A disk is no unit that does something.
  if (waits && index + 1 < hops.size() && hops[index + 1].does == Hop::Does::Disk) {
    hop = hops[index + 1];
  }
  if (hop.does != Hop::Does::Waits) {
    Cause& end = part_like(node, cause_of(hop, node.name));
    end.threads += threads;
    end.error = std::hypot(end.error, std::sqrt(variance));
    return;
  }
  Cause& next = part_like(node, {.kind = Cause::Kind::Unit, .name = hops[index + 1].unit});
  next.threads += threads;
  next.error = std::hypot(next.error, std::sqrt(variance));
  add_hops(next, hops, index + 1, threads, variance);
}

void sort_parts(Cause& node) {
  std::ranges::stable_sort(node.parts, std::ranges::greater(), &Cause::threads);
  for (Cause& part : node.parts) sort_parts(part);
}

}  // namespace

void scale_cause(Cause& cause, double scale) {
  if (scale == 1) return;
  cause.threads *= scale;
  cause.error *= scale;
  for (Cause& part : cause.parts) scale_cause(part, scale);
}

void add_chain_parts(Cause& part, const Source<UnitChain>& chains, const std::string& unit) {
  if (!chains.known()) return;
  const double window_ns = chains.seconds * kNanoseconds;
  double told = 0;
  for (const UnitChain& chain : chains.of(unit)) {
    const bool ours = !chain.hops.empty() && chain.hops.front().unit == part.name &&
                      static_cast<std::size_t>(chain.wait_for) == part.for_kind;
    if (!ours || chain.time.ns <= 0) continue;
    told += chain.time.ns / window_ns;
    add_hops(part, chain.hops, 0, chain.time.ns / window_ns,
             chain.time.variance_ns2 / (window_ns * window_ns));
  }
  if (told > part.threads) {
    for (Cause& each : part.parts) scale_cause(each, part.threads / told);
  } else if (told > 0 && part.threads - told > kNothing) {
    part.parts.push_back({.kind = Cause::Kind::Unknown,
                          .for_kind = part.for_kind,
                          .threads = part.threads - told,
                          .because = "no chain was seen for this part"});
  }
  sort_parts(part);
}

}  // namespace offcpud
