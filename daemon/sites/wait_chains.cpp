// SPDX-License-Identifier: Apache-2.0
#include "sites/wait_chains.h"

#include <algorithm>
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

// A process that runs commands writes what they print. Whether somebody asked for that is not
// known, unless the reader started it, as a shell does for $(command): then he waits for what it
// waits for.
EvidenceVerdict by_writer(Awaits awaits, const EvidenceVerdict& verdict, bool is_readers_child) {
  if (awaits == Awaits::Child && !is_readers_child) return {.wait_for = WaitFor::Answer};
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
    std::unordered_map<std::uint32_t, std::size_t> last;  // of each thread
    for (std::size_t i = 0; i < blocks.size(); ++i) last.insert_or_assign(blocks[i].tid, i);
    for (const auto& [tid, i] : last) {
      const LastingBlock& block = blocks[i];
      if (tid != block.tgid) {
        other_threads_.emplace(block.tgid, i);
        continue;
      }
      children_.emplace(block.parent_tgid, i);
      main_threads_.emplace(tid, i);
    }
  }

  void follow(std::size_t index, int depth = 0) {
    LastingBlock& block = blocks_[index];
    if (block.awaits == Awaits::Nothing || met_[index] || depth > kDeepest) return;
    met_[index] = true;
    if (block.awaits == Awaits::Child) {
      follow_child(block, depth);
    } else if (block.verdict.wait_for != WaitFor::Answer) {
      follow_pipe(block, depth);
    } else {
      return;
    }
    const bool is_open = !block.is_followed && block.verdict.wait_for == WaitFor::Unknown;
    if (is_open && block.earlier) block.verdict = *block.earlier;
  }

 private:
  // A chain of processes is as deep as the program behind it.
  static constexpr int kDeepest = 32;

  static void say(LastingBlock& block, const EvidenceVerdict& verdict) {
    block.verdict = verdict;
    block.is_followed = true;
  }

  void follow_child(LastingBlock& block, int depth) {
    if (classes_.try_emplace(block.tgid).second) {
      ChildClasses classes;
      const auto [first, last] = children_.equal_range(block.tgid);
      for (auto child = first; child != last; ++child) {
        classes.add(verdict_of_process(child->second, depth + 1));
      }
      classes_[block.tgid] = classes;  // other processes may have come in between
    }
    const ChildClasses& classes = classes_[block.tgid];
    if (classes.any) say(block, classes.verdict());
  }

  void follow_pipe(LastingBlock& block, int depth) {
    if (block.holder_tgid == 0) {
      if (block.is_own_pipe) say(block, {.wait_for = WaitFor::Work});
      return;
    }
    const auto writer = main_threads_.find(block.holder_tgid);
    if (writer == main_threads_.end()) return;
    const EvidenceVerdict verdict = verdict_of_process(writer->second, depth + 1);
    const LastingBlock& of_writer = blocks_[writer->second];
    say(block, by_writer(of_writer.awaits, verdict, of_writer.parent_tgid == block.tgid));
  }

  // What a process waits for, by its main thread. Main threads of Go and Java sleep while others
  // work, so it is idle only if no other thread may be stuck.
  EvidenceVerdict verdict_of_process(std::size_t main_thread, int depth) {
    follow(main_thread, depth);
    const LastingBlock& block = blocks_[main_thread];
    if (!is_idle(block.verdict.wait_for) || !may_be_stuck(block.tgid, depth)) return block.verdict;
    return {.wait_for = WaitFor::Unknown};
  }

  // Whether one of the threads beside the main thread is not idle.
  bool may_be_stuck(std::uint32_t tgid, int depth) {
    const auto [known, is_new] = may_be_stuck_.emplace(tgid, false);
    if (!is_new) return known->second;
    const auto [first, last] = other_threads_.equal_range(tgid);
    const bool is_stuck = std::any_of(first, last, [&](const auto& thread) {
      follow(thread.second, depth + 1);
      return !is_idle(blocks_[thread.second].verdict.wait_for);
    });
    return may_be_stuck_[tgid] = is_stuck;
  }

  std::span<LastingBlock> blocks_;
  std::vector<bool> met_;
  std::unordered_multimap<std::uint32_t, std::size_t> other_threads_;  // by process
  std::unordered_map<std::uint32_t, bool> may_be_stuck_;               // by process, once asked
  std::unordered_multimap<std::uint32_t, std::size_t> children_;       // by number of the parent
  std::unordered_map<std::uint32_t, std::size_t> main_threads_;        // by number of the process
  // By number of the parent; kept because many threads of it may wait for many children. While the
  // children of a parent are being followed, it has no class for them yet.
  std::unordered_map<std::uint32_t, ChildClasses> classes_;
};

}  // namespace

void follow_chains(std::span<LastingBlock> blocks) {
  ChainWalk walk(blocks);
  for (std::size_t i = 0; i < blocks.size(); ++i) walk.follow(i);
}

}  // namespace offcpud
