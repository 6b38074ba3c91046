// SPDX-License-Identifier: Apache-2.0
#include "stacks/given_answers.h"

#include <algorithm>
#include <limits>

#include "peers/wait_peer.h"
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

std::uint64_t GivenAnswers::last(const ChainedBlock& wait, std::uint64_t from_ns,
                                 std::uint64_t idle_ns, std::uint64_t to_ns) const {
  const auto at = [&](std::uint64_t ns) {
    return Answer{.tid = wait.peer.tid, .tgid = wait.peer.process.tgid, .ns = ns};
  };
  const auto begin = std::ranges::upper_bound(answers_, at(from_ns));
  const bool has_first = from_ns <= wait.since_ns;
  const bool has_idled = idle_ns < to_ns;
  std::uint64_t next_ns = has_idled ? std::numeric_limits<std::uint64_t>::max() : wait.ended_ns;
  auto answer = std::ranges::lower_bound(answers_, at(has_idled ? idle_ns : wait.ended_ns));
  while (answer > begin) {
    --answer;
    const bool is_apart = (has_first && answer == begin) || next_ns - answer->ns >= kTogetherNs;
    if (is_apart && answer->ns < idle_ns) return answer->ns;
    next_ns = answer->ns;
  }
  return 0;
}

}  // namespace offcpud
