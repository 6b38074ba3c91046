// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/share_owner.h"
#include "base/share_slots.h"
#include "base/wait_time.h"
#include "base/word_hash.h"
#include "histogram/wait_estimate.h"
#include "holders/gil_wait.h"
#include "holders/lock_holder.h"
#include "peers/wait_peer.h"
#include "snapshot/snapshot.h"
#include "stacks/byte_budget.h"
#include "stacks/cgroup_paths.h"
#include "stacks/past_blocks.h"
#include "stacks/peer_times.h"
#include "stacks/stack_sums.h"

namespace offcpud {

// The blocks of one process and cgroup with equal stacks and kinds of files waited on. Frames are
// innermost first.
struct WaitSum {
  static constexpr std::size_t kKeyHead = 5;  // words of a key before its frames

  offcpud_sample sample{};         // of the first one
  std::vector<std::uint64_t> key;  // tells it apart from all others, in any window
  std::vector<LocatedFrame> user;  // filled in by the caller of WaitSums::add()
  std::shared_ptr<const InterpretedStack> interpreted;  // as in SampledBlock
  WaitEstimate ended;
  WaitTime within;                  // of those that ended, the part within the window
  PeerTimes peers;                  // of both
  std::uint32_t samples = 0;        // how many are in `ended`
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
  bool censored = false;        // `since_ns` is when the daemon found it
  std::uint64_t asleep_ns = 0;  // as in the sample
  std::size_t sum = kKnown;     // index into the sums; kKnown: an earlier window had its stack

  std::uint32_t local_tgid = 0;  // of the thread's process
  std::uint64_t process_start_ns = 0;
  std::uint64_t cgroup_id = 0;
  std::uint32_t kind = 0;
  bool lasts = false;             // it had not ended at `seen_ns`, when it was last seen
  std::uint64_t seen_ns = 0;      // CLOCK_MONOTONIC
  std::uint64_t going_on_ns = 0;  // within the window, until it ended
  WaitPeer peer;                  // of the last look
};

// One sampled block that has ended, for chains of causes (IntervalChains) and for who releases
// locks.
struct EndedBlock {
  std::uint32_t tid = 0, tgid = 0;           // in the initial PID namespace
  std::uint64_t since_ns = 0, ended_ns = 0;  // CLOCK_MONOTONIC; 0: the beginning was not seen
  double stands_for = 1;                     // how many such blocks
  std::size_t sum = 0;                       // index into the sums
  WaitPeer peer;
  std::uint32_t ender = 0;                 // see ender_of()
  std::shared_ptr<const PastBlocks> past;  // of those it waited for; null: not known
  // The process whose thread ended the block in its own context, be it the peer or not; that
  // thread's number in the initial PID namespace, and its name. Without a process: no thread did,
  // or one of the kernel.
  PeerProcess by{};
  std::uint32_t by_tid = 0;
  std::array<char, OFFCPUD_COMM> by_thread{};
};

// Sums the blocks of a few seconds, to find what they were for: how many ended after how long, and
// which last. Unlike StackSums, it does not distinguish wakers and threads. When there is no room,
// the largest process of the user who holds most gives way (ShareSlots), even with what it already
// has in this window. The time of all that loses its room goes to `overflow`. Single-threaded.
class WaitSums {
 public:
  static constexpr std::size_t kMostSums = 8'192;
  static constexpr std::size_t kMostBlocks = 20'000;
  // Blocks that are kept for chains; further ones are in their sums only.
  static constexpr std::size_t kMostEnded = 8'192;

  struct Asked {
    std::uint32_t local_tgid = 0;  // in the daemon's PID namespace
    std::uint64_t process_start_ns = 0;
    bool wants = false;  // more room; false: it holds some, as thousands may
  };
  using OwnerOf = std::function<ShareOwner(const Asked& process)>;

  // `owner_of` is asked only once there is no room.
  explicit WaitSums(OwnerOf owner_of, std::shared_ptr<ByteBudget> budget = nullptr)
      : owner_of_(std::move(owner_of)), budget_(std::move(budget)), bytes_(budget_) {}

  // Time before this one (CLOCK_MONOTONIC) is not within the window.
  void begin_at(std::uint64_t ns) { begin_ns_ = ns; }

  // Adds a sampled block. Returns its sum, valid until the next call, if it is the first with this
  // stack, for the caller to locate; else null. Blocks in progress add no wait. `peer`: whom it
  // waited on.
  WaitSum* add(const SampledBlock& block, const WaitPeer& peer = {});

  // Notes the block of this sample, whose stack was added last. If that had no room, the block is
  // left out.
  void note(const offcpud_sample& sample, const WaitPeer& peer = {});
  // The same for a block whose stack is known.
  void note_known(const offcpud_sample& sample, const WaitPeer& peer = {});
  // A block in progress that was noted before in this window goes on.
  void note_again(const offcpud_sample& sample);
  // The block of this sample has ended. If it was noted in this window, it does not last.
  void note_ended(const offcpud_sample& sample);
  // Whether the block of this thread that began then is noted in this window.
  [[nodiscard]] bool has_noted(std::uint32_t tid, std::uint64_t since_ns) const {
    return blocks_.contains({tid, since_ns});
  }

  struct Drained {
    std::vector<WaitSum> sums;
    std::vector<SeenBlock> blocks;  // by tid and beginning
    std::vector<EndedBlock> ended;  // in the order of their samples
    bool ended_are_all = true;      // false: kMostEnded, or no room for a sum
    // Waits whose stacks have no room, by cgroup.
    std::map<std::uint64_t, WaitEstimate> overflow;
    // The time within the window of all that has no room, by cgroup.
    std::map<std::uint64_t, WaitTime> overflow_times;
    std::uint64_t blocks_left_out = 0;
    ByteBudget::Share bytes;  // used by the sums
  };
  // Returns everything added since the last call.
  Drained drain();

 private:
  using Key = std::vector<std::uint64_t>;
  using BlockKey = std::pair<std::uint32_t, std::uint64_t>;  // thread and beginning
  struct Noted {
    SeenBlock block;
    std::uint32_t serial = 0;  // of its sum
  };
  struct Ended {
    EndedBlock block;
    std::uint32_t serial = 0;
  };
  static Key key_of(const SampledBlock& block);
  using Process = std::pair<std::uint32_t, std::uint64_t>;  // as Asked
  using Owners = std::map<Process, ShareOwner>;
  // The owner of a process that wants more room.
  [[nodiscard]] ShareOwner owner_of(const offcpud_sample& sample) const;
  [[nodiscard]] Owners owners_of(const std::map<Process, std::size_t>& held) const;
  WaitSum* add_sum(const SampledBlock& block, Key key);
  bool make_room_for_sum(const SampledBlock& block);
  bool make_room_for_block(const offcpud_sample& sample);
  void rank_sums();
  void rank_blocks();
  void drop_sum(std::size_t place);
  void drop_block(ShareSlots::Slot slot);
  std::vector<std::size_t> move_sums(Drained& drained);
  void move_blocks(Drained& drained, const std::vector<std::size_t>& moved);
  void move_ended(Drained& drained, const std::vector<std::size_t>& moved);
  void keep_ended(const SampledBlock& block, const WaitPeer& peer);
  void note_at(const offcpud_sample& sample, const WaitPeer& peer, std::size_t sum);
  void leave_out(const offcpud_sample& sample);
  void leave_out(const SeenBlock& block);
  void add_overflow(const offcpud_sample& sample);
  [[nodiscard]] std::uint64_t within(const offcpud_sample& sample) const;

  OwnerOf owner_of_;
  std::shared_ptr<ByteBudget> budget_;
  ByteBudget::Share bytes_;
  std::vector<WaitSum> sums_;           // with an empty key: free
  std::vector<std::uint32_t> serials_;  // of sums_: changes with the sum at a place
  std::unordered_map<Key, std::size_t, WordsHash> places_;  // of sums_
  std::size_t last_ = SeenBlock::kKnown;                    // that add() used; kKnown: none
  std::map<BlockKey, Noted> blocks_;
  std::vector<Ended> ended_;
  bool ended_are_all_ = true;
  // Who holds them; set once there was no room in this window.
  std::optional<ShareSlots> sum_shares_, block_shares_;
  std::vector<BlockKey> block_at_;  // by slot of block_shares_
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
  HeldBlocks holders{};   // of locks for which `waits.blocks` wait
  UnheldBlocks unheld{};  // of those whose locks were looked at, but of which no holder is told
  std::vector<GilWait> gil_waits{};  // at the last look
  // By row of processes, the longest sampling interval of its strata.
  std::array<std::chrono::nanoseconds, OFFCPUD_SAMPLE_ROWS> intervals{};
};

}  // namespace offcpud
