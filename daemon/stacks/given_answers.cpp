// SPDX-License-Identifier: Apache-2.0
#include "stacks/given_answers.h"

#include <algorithm>
#include <limits>

#include "stacks/interval_chains.h"

namespace offcpud {

GivenAnswers::GivenAnswers(std::span<const ChainedBlock> blocks) {
  for (const ChainedBlock& block : blocks) {
    const WaitPeer& by = block.peer;
    const bool is_answered = block.wait_for == WaitFor::Answer &&
                             by.kind == WaitPeer::Kind::Process && by.tid != 0 &&
                             by.process.tgid != block.tgid;
    if (!is_answered) continue;
    answers_.push_back({.tid = by.tid, .tgid = by.process.tgid, .ns = block.ended_ns});
  }
  std::ranges::sort(answers_);
}

std::uint64_t GivenAnswers::last(const WaitPeer& by, std::uint64_t from_ns, std::uint64_t idle_ns,
                                 std::uint64_t to_ns) const {
  const auto at = [&](std::uint64_t ns) {
    return Answer{.tid = by.tid, .tgid = by.process.tgid, .ns = ns};
  };
  const auto first = std::ranges::upper_bound(answers_, at(from_ns));
  std::uint64_t next_ns = idle_ns < to_ns ? std::numeric_limits<std::uint64_t>::max() : to_ns;
  for (auto answer = std::ranges::lower_bound(answers_, at(idle_ns)); answer > first;) {
    --answer;
    if (answer == first || next_ns - answer->ns >= kTogetherNs) return answer->ns;
    next_ns = answer->ns;
  }
  return 0;
}

}  // namespace offcpud
