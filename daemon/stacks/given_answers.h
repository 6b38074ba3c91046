// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "peers/wait_peer.h"

namespace offcpud {

struct ChainedBlock;

// When threads gave threads of other processes an answer for which these waited; only sampled waits
// tell. Immutable.
class GivenAnswers {
 public:
  // Answers that a thread gives at shorter distances may be one and the same, as of a server that
  // writes to a disk once for many.
  static constexpr std::uint64_t kTogetherNs = 100'000;

  explicit GivenAnswers(std::span<const ChainedBlock> blocks);

  // A thread was at work all the time from before `from_ns` until `idle_ns`, and answered at
  // `to_ns`, which is no earlier, somebody who had begun to wait at `from_ns`. When did it end what
  // it did for others before? At the last answer that it gave another thread until then, if that
  // was not together with a later one. The first one ends what it did already when the wait began,
  // so that counts in any case. 0: it gave none.
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
