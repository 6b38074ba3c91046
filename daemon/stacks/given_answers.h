// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "peers/wait_peer.h"

namespace offcpud {

struct ChainedBlock;

// When threads answered threads of other processes, as far as the waits for these answers were
// sampled. Times are CLOCK_MONOTONIC. Immutable.
class GivenAnswers {
 public:
  // Answers that a thread gives at shorter distances may be of one piece of work: a server may
  // write to a disk once for many.
  static constexpr std::uint64_t kTogetherNs = 100'000;

  explicit GivenAnswers(std::span<const ChainedBlock> blocks);

  // Until when thread `by` worked for others, while a thread waited for its answer from `from_ns`
  // to `to_ns`. `by` was at work from before that wait until `idle_ns`, which is `to_ns` at most.
  // Returns the time of its last answer between `from_ns` and `idle_ns` that no later answer
  // follows within kTogetherNs; if `idle_ns` is `to_ns`, the one at `to_ns` is such a later answer.
  // The first answer counts in any case, because it ends work that was begun before the wait. 0:
  // there is none.
  [[nodiscard]] std::uint64_t last(const WaitPeer& by, std::uint64_t from_ns, std::uint64_t idle_ns,
                                   std::uint64_t to_ns) const;

 private:
  struct Answer {
    std::uint32_t tid = 0, tgid = 0;  // who gave it
    std::uint64_t ns = 0;

    auto operator<=>(const Answer&) const = default;  // NOLINT(modernize-use-nullptr)
  };
  std::vector<Answer> answers_;  // sorted
};

}  // namespace offcpud
