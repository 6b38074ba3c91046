// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/wait_time.h"
#include "base/word_hash.h"
#include "histogram/wait_estimate.h"
#include "snapshot/snapshot.h"
#include "stacks/byte_budget.h"
#include "stacks/cgroup_paths.h"
#include "stacks/stack_sums.h"

namespace offcpud {

// The blocks of one process and cgroup with equal stacks and kinds of files waited on. Frames are
// innermost first.
struct WaitSum {
  static constexpr std::size_t kKeyHead = 4;  // words of a key before its frames

  offcpud_sample sample{};         // of the first one
  std::vector<std::uint64_t> key;  // tells it apart from all others, in any window
  std::vector<LocatedFrame> user;  // filled in by the caller of WaitSums::add()
  WaitEstimate ended;
  WaitTime within;                  // of those that ended, the part within the window
  std::uint32_t samples = 0;        // that are in `ended`
  std::uint64_t last_ended_ns = 0;  // CLOCK_MONOTONIC, the end of the last of these

  [[nodiscard]] std::span<const std::uint64_t> kernel() const {
    return std::span(key).subspan(kKeyHead, sample.kernel_frames);
  }
};

// One block that lasts or was long.
struct SeenBlock {
  static constexpr std::size_t kKnown = ~std::size_t{0};

  std::uint32_t tid = 0, tgid = 0, parent_tgid = 0;  // in the initial PID namespace
  std::uint32_t waited_on = 0, holder_tgid = 0;      // as in the sample
  std::uint64_t since_ns = 0;
  bool censored = false;
  std::size_t sum = kKnown;  // index into the sums; kKnown: an earlier window had its stack

  std::uint32_t local_tgid = 0;  // of the thread's process
  std::uint64_t process_start_ns = 0;
  std::uint64_t cgroup_id = 0;
  std::uint32_t kind = 0;
  bool lasts = false;             // it had not ended at `seen_ns`, when it was last seen
  std::uint64_t seen_ns = 0;      // CLOCK_MONOTONIC
  std::uint64_t going_on_ns = 0;  // within the window, until it ended
};

// Sums the blocks of a few seconds, to say what they were for: how many ended after how long, and
// which last. Unlike StackSums it does not tell wakers and threads apart. Single-threaded.
class WaitSums {
 public:
  static constexpr std::size_t kMostSums = 8'192;
  static constexpr std::size_t kMostBlocks = 20'000;

  explicit WaitSums(std::shared_ptr<ByteBudget> budget = nullptr)
      : budget_(std::move(budget)), bytes_(budget_) {}

  // Time before this one (CLOCK_MONOTONIC) is not within the window.
  void begin_at(std::uint64_t ns) { begin_ns_ = ns; }

  // Adds a sampled block. Returns its sum, valid until the next call, if it is the first with this
  // stack, for the caller to locate; else null. Blocks in progress add no wait.
  WaitSum* add(const SampledBlock& block);

  // Notes the block of this sample, whose stack was added last. Nothing where that had no room.
  void note(const offcpud_sample& sample);
  // The same for a block whose stack is known.
  void note_known(const offcpud_sample& sample);
  // A block in progress that was noted before in this window goes on.
  void note_again(const offcpud_sample& sample);
  // The block of this sample has ended. If it was noted in this window, it does not last.
  void note_ended(const offcpud_sample& sample);

  struct Drained {
    std::vector<WaitSum> sums;
    std::vector<SeenBlock> blocks;
    // Waits whose stacks found no room, by cgroup.
    std::map<std::uint64_t, WaitEstimate> overflow;
    // The time within the window of all that found no room, by cgroup.
    std::map<std::uint64_t, WaitTime> overflow_times;
    std::uint64_t blocks_left_out = 0;
    ByteBudget::Share bytes;  // used by the sums
  };
  // Returns everything added since the last call.
  Drained drain();

 private:
  using Key = std::vector<std::uint64_t>;
  static Key key_of(const SampledBlock& block);
  void note(const offcpud_sample& sample, std::size_t sum);
  void leave_out(const offcpud_sample& sample);
  void add_overflow(const offcpud_sample& sample);
  [[nodiscard]] std::uint64_t within(const offcpud_sample& sample) const;

  std::shared_ptr<ByteBudget> budget_;
  ByteBudget::Share bytes_;
  std::vector<WaitSum> sums_;
  std::unordered_map<Key, std::size_t, WordsHash> places_;  // of sums_
  std::size_t last_ = SeenBlock::kKnown;                    // that add() used; kKnown: none
  std::map<std::pair<std::uint32_t, std::uint64_t>, SeenBlock> blocks_;  // by tid and beginning
  std::map<std::uint64_t, WaitEstimate> overflow_;
  std::map<std::uint64_t, WaitTime> overflow_times_;
  std::uint64_t blocks_left_out_ = 0;
  std::uint64_t begin_ns_ = 0;
};

// The blocks of a few seconds, before functions of programs are named.
struct WaitInterval {
  WallTime begin;
  MonotonicTime begin_at{}, end_at{};
  CgroupPaths cgroups;
  WaitSums::Drained waits{};
  std::uint64_t lost_ns = 0;         // of whole blocks whose samples were lost
  std::uint64_t lost_within_ns = 0;  // of their parts within the window
  std::unordered_map<std::uint64_t, StackFrame> kernel_names{};  // by return address
};

}  // namespace offcpud
