// SPDX-License-Identifier: Apache-2.0
#include "sites/wait_chains.h"

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace offcpud {
namespace {

using Awaits = LastingBlock::Awaits;

// What the main threads of a process's children wait for.
struct ChildClasses {
  bool any = false, stuck = false, certain = false, work = false, unknown = false;

  void add(const EvidenceVerdict& verdict) {
    any = true;
    const bool is_stuck = actionable(verdict.wait_for);
    stuck = stuck || is_stuck;
    certain = certain || (is_stuck && verdict.certain);
    work = work || verdict.wait_for == WaitFor::Work;
    unknown = unknown || verdict.wait_for == WaitFor::Unknown;
  }

  [[nodiscard]] EvidenceVerdict verdict() const {
    if (stuck) return {.wait_for = WaitFor::Answer, .certain = certain};
    if (unknown) return {.wait_for = WaitFor::Unknown};
    return {.wait_for = work ? WaitFor::Work : WaitFor::Timer, .certain = true};
  }
};

// A process that runs commands answers by what they print. Whether that was asked for is not known.
EvidenceVerdict by_writer(const LastingBlock& writer) {
  const EvidenceVerdict& verdict = writer.verdict;
  if (writer.awaits == Awaits::Child) return {.wait_for = WaitFor::Answer};
  if (actionable(verdict.wait_for)) {
    return {.wait_for = WaitFor::Answer, .certain = verdict.certain};
  }
  if (is_idle(verdict.wait_for)) return {.wait_for = WaitFor::Work, .certain = true};
  return {.wait_for = WaitFor::Unknown};
}

// Follows each block once.
class ChainWalk {
 public:
  explicit ChainWalk(std::span<LastingBlock> blocks) : blocks_(blocks), met_(blocks.size()) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i].tid != blocks[i].tgid) continue;
      children_.emplace(blocks[i].parent_tgid, i);
      main_threads_.emplace(blocks[i].tgid, i);
    }
  }

  void follow(std::size_t index, int depth = 0) {
    LastingBlock& block = blocks_[index];
    if (block.awaits == Awaits::Nothing || met_[index] || depth > kDeepest) return;
    met_[index] = true;
    if (block.awaits == Awaits::Child) {
      follow_child(block, depth);
    } else {
      follow_pipe(block, depth);
    }
  }

 private:
  // A chain of processes is as deep as the program behind it.
  static constexpr int kDeepest = 32;

  void follow_child(LastingBlock& block, int depth) {
    if (classes_.try_emplace(block.tgid).second) {
      ChildClasses classes;
      const auto [first, last] = children_.equal_range(block.tgid);
      for (auto child = first; child != last; ++child) {
        follow(child->second, depth + 1);
        classes.add(blocks_[child->second].verdict);
      }
      classes_[block.tgid] = classes;  // other processes may have come in between
    }
    const ChildClasses& classes = classes_[block.tgid];
    if (classes.any) block.verdict = classes.verdict();
  }

  void follow_pipe(LastingBlock& block, int depth) {
    if (block.verdict.wait_for == WaitFor::Answer) return;
    if (block.holder_tgid == 0) {
      if (block.is_own_pipe) block.verdict = {.wait_for = WaitFor::Work};
      return;
    }
    const auto writer = main_threads_.find(block.holder_tgid);
    if (writer == main_threads_.end()) return;
    follow(writer->second, depth + 1);
    block.verdict = by_writer(blocks_[writer->second]);
  }

  std::span<LastingBlock> blocks_;
  std::vector<bool> met_;
  std::unordered_multimap<std::uint32_t, std::size_t> children_;  // by number of the parent
  std::unordered_map<std::uint32_t, std::size_t> main_threads_;   // by number of the process
  // By number of the parent, of which many threads may wait for many children. Of a parent whose
  // children are being followed it says nothing yet.
  std::unordered_map<std::uint32_t, ChildClasses> classes_;
};

}  // namespace

void follow_chains(std::span<LastingBlock> blocks) {
  ChainWalk walk(blocks);
  for (std::size_t i = 0; i < blocks.size(); ++i) walk.follow(i);
}

}  // namespace offcpud
