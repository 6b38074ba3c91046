// SPDX-License-Identifier: Apache-2.0
#include "stacks/stack_sums.h"

#include <algorithm>
#include <cstring>

#include "base/word_hash.h"

namespace offcpud {
namespace {

constexpr std::size_t kHead = 13;  // words of a key before its frames

std::uint64_t half_of(const char (&comm)[OFFCPUD_COMM], std::size_t half) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, comm + 8 * half, sizeof(bytes));
  return bytes;
}

std::uint64_t counts_of(const SampledBlock& block) {
  return block.kernel.size() << 48 | block.user.size() << 32 | block.waker_kernel.size() << 16 |
         block.waker_user.size();
}

void append(std::vector<std::uint64_t>& words, std::span<const __u64> frames) {
  words.insert(words.end(), frames.begin(), frames.end());
}

// Each block is sampled with probability p = ns / weight, independently. It adds ns^2 (1 - p) / p
// to the variance of the sum. The value below, summed over the sampled blocks, is an unbiased
// estimate of that (Horvitz and Thompson 1952, "A generalization of sampling without replacement
// from a finite universe").
double variance_of(const offcpud_sample& sample) {
  const auto weight = static_cast<double>(sample.weight_ns);
  return weight * std::max(0.0, weight - static_cast<double>(sample.ns));
}

// So that one long block does not outweigh all others in what is learned of wakers.
constexpr std::uint64_t kMostOfOneBlock = 1'000'000'000;

}  // namespace

StackSums::Key StackSums::key_of(const SampledBlock& block) {
  const offcpud_sample& sample = block.sample;
  const std::uint32_t in_progress = sample.flags & OFFCPUD_SAMPLE_IN_PROGRESS;
  Key key = {sample.process_start_ns,
             word_of(sample.tgid, sample.kind),
             sample.cgroup_id,
             word_of(sample.waker << 16U | sample.user_end, sample.waited_on),
             word_of(sample.waker_tgid, in_progress),
             half_of(sample.comm, 0),
             half_of(sample.comm, 1),
             half_of(sample.process_comm, 0),
             half_of(sample.process_comm, 1),
             half_of(sample.waker_comm, 0),
             half_of(sample.waker_comm, 1),
             counts_of(block),
             block.interpreted_id()};
  key.reserve(kHead + block.kernel.size() + block.user.size() + block.waker_kernel.size() +
              block.waker_user.size());
  for (const auto frames : {block.kernel, block.user, block.waker_kernel, block.waker_user}) {
    append(key, frames);
  }
  return key;
}

// Memory of one sum: the key and the frames both hold each address, and each user address is
// located.
std::size_t StackSums::bytes_of(const SampledBlock& block) {
  constexpr std::size_t kAllocations = std::size_t{6} * 2 * sizeof(void*);
  const std::size_t user = block.user.size() + block.waker_user.size();
  const std::size_t all = user + block.kernel.size() + block.waker_kernel.size();
  return sizeof(Key) + sizeof(BlockSum) + kAllocations + sizeof(std::uint64_t) * (kHead + 2 * all) +
         sizeof(LocatedFrame) * user + block.interpreted_bytes();
}

BlockSum* StackSums::add(const SampledBlock& block) {
  const offcpud_sample& sample = block.sample;
  const bool in_progress = is_in_progress(sample);
  const double episodes = in_progress || sample.ns == 0 ? 0
                                                        : static_cast<double>(sample.weight_ns) /
                                                              static_cast<double>(sample.ns);
  Key key = key_of(block);
  auto found = sums_.find(key);
  const bool is_new = found == sums_.end();
  if (is_new) {
    if (sums_.size() >= most_ || !bytes_.take(bytes_of(block))) {
      ++overflowed_;
      overflow_ns_ += sample.weight_ns;
      return nullptr;
    }
    BlockSum sum;
    sum.sample = sample;
    sum.interpreted = block.interpreted;
    sum.frames.assign(key.begin() + kHead, key.end());
    sum.sample.kernel_frames = static_cast<std::uint16_t>(block.kernel.size());
    sum.sample.user_frames = static_cast<std::uint16_t>(block.user.size());
    sum.sample.waker_kernel_frames = static_cast<std::uint16_t>(block.waker_kernel.size());
    sum.sample.waker_user_frames = static_cast<std::uint16_t>(block.waker_user.size());
    found = sums_.emplace(std::move(key), std::move(sum)).first;
  }
  found->second.ns += sample.weight_ns;
  found->second.episodes += episodes;
  found->second.variance += variance_of(sample);
  add_pair(found->second, sample, episodes);
  const std::uint64_t length = sample.ended_ns - sample.since_ns;
  if (!in_progress && length > found->second.longest_ns) {
    found->second.longest_ns = length;
    found->second.longest_ended_ns = sample.ended_ns;
  }
  return is_new ? &found->second : nullptr;
}

void StackSums::add_pair(BlockSum& sum, const offcpud_sample& sample, double episodes) {
  const bool is_known = sample.waker < OFFCPUD_WAKERS && !is_in_progress(sample);
  const std::uint32_t waker = is_known ? sample.waker_tid : 0;
  auto pair = std::ranges::find_if(sum.pairs, [&](const WakePair& each) {
    return each.tid == sample.tid && each.waker_tid == waker;
  });
  if (pair == sum.pairs.end()) {
    // Twice, as the vector doubles its room.
    if (sum.pairs.size() >= kMostPairs || !bytes_.take(2 * sizeof(WakePair))) {
      ++sum.pairs_left_out;
      return;
    }
    sum.pairs.push_back({.tid = sample.tid, .waker_tid = waker});
    pair = sum.pairs.end() - 1;
  }
  const std::uint64_t length = sample.ended_ns - sample.since_ns;
  ++pair->samples;
  pair->ns += static_cast<double>(
      std::min(std::max<std::uint64_t>(sample.weight_ns, length), kMostOfOneBlock));
  const auto weight = static_cast<double>(sample.weight_ns);
  pair->whole_ns += weight;
  pair->variance_ns2 += weight * std::max(weight - static_cast<double>(sample.ns), 0.0);
  pair->episodes += episodes;
}

StackSums::Drained StackSums::drain() {
  Drained drained;
  drained.sums.reserve(sums_.size());
  for (auto& [key, sum] : sums_) drained.sums.push_back(std::move(sum));
  drained.overflow_ns = std::exchange(overflow_ns_, 0);
  drained.overflowed = std::exchange(overflowed_, 0);
  sums_.clear();
  drained.bytes = std::exchange(bytes_, ByteBudget::Share(budget_));
  return drained;
}

}  // namespace offcpud
