// SPDX-License-Identifier: Apache-2.0
#include "stacks/interval_chains.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace offcpud {
namespace {

bool ends_before(const ChainedBlock& block, std::pair<std::uint32_t, std::uint64_t> place) {
  return std::tie(block.tid, block.ended_ns) < std::tie(place.first, place.second);
}

}  // namespace

IntervalChains::IntervalChains(std::vector<ChainedBlock> blocks, std::uint64_t begin_ns)
    : blocks_(std::move(blocks)), begin_ns_(begin_ns) {
  std::ranges::sort(blocks_, {},
                    [](const ChainedBlock& block) { return std::pair(block.tid, block.ended_ns); });
}

// A thread has one block at a time, so those that end within a time begin in their order, too; one
// more may have begun within it and ended after it.
std::span<const ChainedBlock> IntervalChains::of(std::uint32_t tid, std::uint64_t from_ns,
                                                 std::uint64_t to_ns) const {
  const auto begin =
      std::lower_bound(blocks_.begin(), blocks_.end(), std::pair(tid, from_ns + 1), ends_before);
  auto end = begin;
  while (end != blocks_.end() && end->tid == tid && end->since_ns < to_ns) ++end;
  return {begin, end};
}

// The division of one wait.
class IntervalChains::Walk {
 public:
  Walk(const IntervalChains& chains, const ChainedBlock& wait, const Take& take)
      : chains_(chains), wait_(wait), take_(take) {}

  // What the thread did in this time, of which each nanosecond stands for `scale` of the wait.
  void divide(std::uint32_t tid, std::uint64_t from_ns, std::uint64_t to_ns, double scale) {
    const std::uint64_t known_from = std::clamp(chains_.begin_ns_, from_ns, to_ns);
    end(End::Unknown, scale, static_cast<double>(known_from - from_ns));
    double left = static_cast<double>(to_ns - known_from);
    for (const ChainedBlock& block : chains_.of(tid, known_from, to_ns)) {
      const std::uint64_t begin = std::max(block.since_ns, known_from);
      const std::uint64_t until = std::min(block.ended_ns, to_ns);
      const double ns = static_cast<double>(until - begin) * block.stands_for;
      left -= ns;
      if (pieces_ + 1 >= kMostPieces) {
        end(End::Unknown, scale, ns);
        continue;
      }
      steps_.at(depth_++) = &block;
      follow(block, begin, until, scale * block.stands_for);
      --depth_;
    }
    end(End::Runs, scale, left);
  }

 private:
  void follow(const ChainedBlock& block, std::uint64_t from_ns, std::uint64_t to_ns, double scale) {
    const WaitPeer& peer = block.peer;
    const bool leads_on = peer.kind == WaitPeer::Kind::Process && peer.tid != 0 &&
                          !is_passed(peer.tid) && depth_ < kMostHops;
    if (block.wait_for == WaitFor::Work) {
      end(End::Idle, scale, static_cast<double>(to_ns - from_ns));
    } else if (leads_on) {
      divide(peer.tid, from_ns, to_ns, scale);
    } else {
      end(End::Waits, scale, static_cast<double>(to_ns - from_ns));
    }
  }

  [[nodiscard]] bool is_passed(std::uint32_t tid) const {
    const auto passed = std::span(steps_).first(depth_);
    if (tid == wait_.tid) return true;
    return std::ranges::any_of(passed,
                               [tid](const ChainedBlock* step) { return step->tid == tid; });
  }

  void end(End how, double scale, double ns) {
    if (ns == 0) return;
    ++pieces_;
    take_({.steps = std::span(steps_).first(depth_),
           .end = how,
           .ns = scale * ns,
           .variance_ns2 = scale > 1 ? scale * (scale - 1) * ns * ns : 0});
  }

  const IntervalChains& chains_;
  const ChainedBlock& wait_;
  const Take& take_;
  std::array<const ChainedBlock*, kMostHops> steps_{};
  std::size_t depth_ = 0, pieces_ = 0;
};

void IntervalChains::divide(const ChainedBlock& wait, const Take& take) const {
  Walk(*this, wait, take).divide(wait.peer.tid, wait.since_ns, wait.ended_ns, 1);
}

}  // namespace offcpud
