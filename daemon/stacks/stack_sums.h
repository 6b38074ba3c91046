// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/word_hash.h"
#include "mappings/mapped_file.h"
#include "stacks/byte_budget.h"
#include "stacks/sampled_block.h"

namespace offcpud {

// An address of a process, with what must be known of it after the process is gone.
struct LocatedFrame {
  std::uint64_t address = 0;               // of an instruction of the function, in the process
  std::uint64_t file_offset = 0;           // offset of the address in `file`
  std::uint64_t object = 0;                // id of the file's symbols; 0: none
  std::shared_ptr<const MappedFile> file;  // null: no mapping is known there

  friend bool operator==(const LocatedFrame&, const LocatedFrame&) = default;
};

// How often and how long one thread of a sum waited for one waker.
struct WakePair {
  std::uint32_t tid = 0;
  std::uint32_t waker_tid = 0;  // 0: no thread, not known, or the block is in progress
  std::uint32_t samples = 0;
  // The sum over its sampled blocks: of each, what it stands for or its whole length, whichever is
  // more, but a second at most.
  double ns = 0;
  double whole_ns = 0;      // what they stand for, however long
  double variance_ns2 = 0;  // of whole_ns
  double episodes = 0;      // like BlockSum::episodes
};

// The sum of one process's blocks with equal stacks, wakers and kinds of files. Frames are
// innermost first.
struct BlockSum {
  offcpud_sample sample{};  // the first one; its numbers of frames are those of `frames`
  std::vector<__u64> frames;
  std::vector<LocatedFrame> user, waker_user;           // filled in by the caller of add()
  std::shared_ptr<const InterpretedStack> interpreted;  // as in SampledBlock
  std::uint64_t ns = 0;
  double episodes = 0;  // without those in progress
  double variance = 0;  // of ns, in ns^2, like StackEntry::variance
  // The longest ended episode, whole, including time in earlier snapshots. 0: none.
  std::uint64_t longest_ns = 0;
  std::uint64_t longest_ended_ns = 0;  // CLOCK_MONOTONIC

  std::vector<WakePair> pairs;
  std::uint64_t pairs_left_out = 0;  // samples of further pairs

  [[nodiscard]] SampledBlock block() const { return sampled_block(sample, {}, frames); }
};

// Sums sampled blocks by process, stacks, waker and kinds of files waited on. Stacks are compared
// in full, so different ones are never merged. Single-threaded.
class StackSums {
 public:
  // The most pairs of each sum: behind one lock, everybody may wake everybody.
  static constexpr std::size_t kMostPairs = 128;

  // Keeps `most` different stacks apart, within a shared budget of bytes. The time of further ones
  // is summed without their stacks.
  explicit StackSums(std::size_t most, std::shared_ptr<ByteBudget> budget = nullptr)
      : most_(most), budget_(std::move(budget)), bytes_(budget_) {}

  // Returns the sum, valid until the next call, if the block is its first; else null.
  BlockSum* add(const SampledBlock& block);

  struct Drained {
    std::vector<BlockSum> sums;
    std::uint64_t overflow_ns = 0;  // time of stacks beyond `most`
    std::uint64_t overflowed = 0;   // samples beyond `most`
    ByteBudget::Share bytes;        // used by the sums
  };
  // Returns everything added since the last call.
  Drained drain();

 private:
  // Frames, preceded by the words that identify the process.
  using Key = std::vector<std::uint64_t>;
  static Key key_of(const SampledBlock& block);

  [[nodiscard]] static std::size_t bytes_of(const SampledBlock& block);
  void add_pair(BlockSum& sum, const offcpud_sample& sample, double episodes);

  std::size_t most_;
  std::shared_ptr<ByteBudget> budget_;
  ByteBudget::Share bytes_;
  std::unordered_map<Key, BlockSum, WordsHash> sums_;
  std::uint64_t overflow_ns_ = 0;
  std::uint64_t overflowed_ = 0;
};

}  // namespace offcpud
