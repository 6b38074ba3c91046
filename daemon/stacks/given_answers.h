// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

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

  // Until when whoever ended `wait` worked for others within its part from `from_ns` to `to_ns`.
  // That thread was at work from before the wait until `idle_ns`, which is `to_ns` at most. Returns
  // the time of its last answer between `from_ns` and `idle_ns` that no later answer follows within
  // kTogetherNs; if `idle_ns` is `to_ns`, the one that ended the wait is such a later answer. The
  // first answer since the wait began counts in any case, because it ends work that was begun
  // before. 0: there is none.
  [[nodiscard]] std::uint64_t last(const ChainedBlock& wait, std::uint64_t from_ns,
                                   std::uint64_t idle_ns, std::uint64_t to_ns) const;

 private:
  struct Answer {
    std::uint32_t tid = 0, tgid = 0;  // who gave it
    std::uint64_t ns = 0;

    auto operator<=>(const Answer&) const = default;  // NOLINT(modernize-use-nullptr)
  };
  std::vector<Answer> answers_;  // sorted
};

}  // namespace offcpud
