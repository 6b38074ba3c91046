// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mappings/mapped_file.h"
#include "stacks/byte_budget.h"
#include "stacks/sampled_block.h"

namespace offcpud {

// An address of a process, as it is remembered when the process may be gone.
struct LocatedFrame {
  std::uint64_t address = 0;               // of an instruction of the function, in the process
  std::uint64_t file_offset = 0;           // where that is in `file`
  std::uint64_t object = 0;                // number of the file's symbols; 0: none
  std::shared_ptr<const MappedFile> file;  // null: no mapping is known there

  friend bool operator==(const LocatedFrame&, const LocatedFrame&) = default;
};

// Blocks at one place, of one process and by one waker, added up. Frames are innermost first.
struct BlockSum {
  offcpud_sample sample{};  // the first one's; the numbers of frames are those of `frames`
  std::vector<__u64> frames;
  std::vector<LocatedFrame> user, waker_user;  // as whoever adds blocks has located them
  std::uint64_t ns = 0;
  double episodes = 0;  // those in progress are none yet
  double variance = 0;  // of ns, in ns^2, as StackEntry has it
  // The longest of the episodes that have ended, with the time before the last snapshot; 0: none.
  std::uint64_t longest_ns = 0;
  std::uint64_t longest_ended_ns = 0;  // CLOCK_MONOTONIC

  [[nodiscard]] SampledBlock block() const { return sampled_block(sample, frames); }
};

// Sampled blocks summed by where and whose they are: equal addresses are one entry, whatever the
// number of samples. Exact comparison, so two stacks are never taken for one. Single-threaded.
class BlockStacks {
 public:
  // Different stacks that are kept apart, within the budget of bytes, which others share; time of
  // further ones is summed without their stacks.
  explicit BlockStacks(std::size_t most, std::shared_ptr<ByteBudget> budget = nullptr)
      : most_(most), budget_(std::move(budget)), bytes_(budget_) {}

  // The sum, if the block is the first of it and kept; valid until the next call.
  BlockSum* add(const SampledBlock& block);

  struct Cut {
    std::vector<BlockSum> sums;
    std::uint64_t overflow_ns = 0;  // beyond `most`
    std::uint64_t overflowed = 0;   // samples
    ByteBudget::Share bytes;        // that the sums take
  };
  // Everything since the last call.
  Cut cut();

 private:
  // Frames, and the words that tell whose they are.
  using Key = std::vector<std::uint64_t>;
  struct HashKey {
    std::size_t operator()(const Key& key) const;
  };
  static Key key_of(const SampledBlock& block);

  [[nodiscard]] static std::size_t bytes_of(const SampledBlock& block);

  std::size_t most_;
  std::shared_ptr<ByteBudget> budget_;
  ByteBudget::Share bytes_;
  std::unordered_map<Key, BlockSum, HashKey> sums_;
  std::uint64_t overflow_ns_ = 0;
  std::uint64_t overflowed_ = 0;
};

}  // namespace offcpud
