// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/chain_end.h"
#include "base/wait_for.h"
#include "peers/wait_peer.h"
#include "stacks/given_answers.h"
#include "stacks/past_blocks.h"
#include "stacks/wait_habits.h"

namespace offcpud {

// A sampled block with what it was for.
struct ChainedBlock {
  std::uint32_t tid = 0, tgid = 0;  // in the initial PID namespace
  // The process in the daemon's PID namespace, and its start; 0: not in it, or not needed.
  std::uint32_t local_tgid = 0;
  std::uint64_t process_start_ns = 0;
  std::uint64_t since_ns = 0, ended_ns = 0;  // CLOCK_MONOTONIC; 0: the beginning was not seen
  double stands_for = 1;                     // how many such blocks
  WaitFor wait_for = WaitFor::Unknown;
  std::uint32_t kind = 0;       // offcpud_hist_kind
  std::uint64_t cgroup_id = 0;  // of the thread
  WaitPeer peer;
  std::uint32_t ender = 0;                 // see ender_of()
  std::shared_ptr<const PastBlocks> past;  // of those it waited for; null: not known
};

// What the thread that ended a wait did during it: an interval inside an interval. If a thread
// waited from t1 to t2 and was woken by W, then W's own blocks, clipped to that time, say what W
// waited for, and so on with whoever woke W; the rest of the time W ran, waited for a CPU, or for
// something that is in no sample. It would be wrong to multiply averages of what W does in general:
// they include other clients' requests (measured: 70 % told where 99.6 % was true).
//
// What W did comes from its own account, as far as that goes back: a sampled wait brings the last
// blocks of W, of whoever ended the longest of those, and so on (PastBlocks). What such a block was
// for is known from the sample if the block is in it, else from other blocks of the process
// (WaitHabits). Between these blocks it is known how long W waited for a CPU, and how long it ran.
//
// What W did before that, and what threads on further hops did, is known only if both blocks are in
// the sample. A block as long as its sampling interval always is; a shorter one is with probability
// p, and then stands for 1/p blocks. So sums over many waits are right on average, but a single
// wait says nothing of blocks of W that are much shorter than W's sampling interval: see
// Piece::watched_ns.
//
// W may work for others while a thread waits for its answer. If W was at work from before that wait
// on, without a wait that may be for work, and answered a thread of another process meanwhile, W
// was busy with other requests until the last such answer (GivenAnswers). Immutable.
class IntervalChains {
 public:
  static constexpr std::size_t kMostHops = 4;
  static constexpr std::size_t kMostPieces = 256;  // of one wait

  using End = ChainEnd;  // Unknown: before the first known block, or too many pieces
  struct Piece {
    std::span<const ChainedBlock* const> steps;  // after the wait itself, each woken by the next
    End end = End::Unknown;
    BusyAfter busy_after;
    double ns = 0;  // of the wait, as the samples of the steps estimate it: may be negative
    double variance_ns2 = 0;  // of `ns`, given the wait
    // Of Runs: for how long the thread was watched, and its process.
    double watched_ns = 0;
    std::uint32_t tgid = 0;
  };
  using Take = std::function<void(const Piece& piece)>;

  // `blocks`: of all threads. Those that ended before `begin_ns` may be missing.
  IntervalChains(std::vector<ChainedBlock> blocks, std::uint64_t begin_ns);

  // Divides the part of a wait from `from_ns` to its end; the pieces add up to that part. The
  // thread of the wait's peer must be known.
  void divide(const ChainedBlock& wait, std::uint64_t from_ns, const Take& take) const;

 private:
  class Walk;
  [[nodiscard]] ChainedBlock block_of(const PastBlock& past) const;
  using Place = std::vector<ChainedBlock>::const_iterator;
  // The first block of the thread that ends after this time.
  [[nodiscard]] Place first_after(std::uint32_t tid, std::uint64_t ns) const;

  std::vector<ChainedBlock> blocks_;  // by thread and end
  WaitHabits habits_;
  GivenAnswers answers_;
  std::uint64_t begin_ns_;
};

}  // namespace offcpud
