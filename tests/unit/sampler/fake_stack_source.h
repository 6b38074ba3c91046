// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stacks/stack_source.h"
#include "support/fake_clock.h"
#include "support/sampled_blocks.h"

namespace offcpud::test {

// The cgroup of such a process; no directory has this inode.
constexpr std::uint64_t cgroup_of(std::uint32_t pid) {
  return (1ULL << 40) + pid;
}

// A kernel in which nothing is sampled and nobody is blocked, for tests of what else it is asked.
class IdleStackSource : public StackSource {
 public:
  [[nodiscard]] bool has_hooks() const override { return true; }
  void choose(const SampleChoice& /*choice*/) override {}
  Result<std::uint64_t> drain(const std::function<void(const SampledBlock&)>& /*take*/) override {
    return std::uint64_t{0};
  }
  Status walk_blocked(BlockAge /*age*/,
                      const std::function<void(const offcpud_blocked_record&)>& /*take*/) override {
    return {};
  }
  LostSamples take_lost() override { return {}; }
  Result<std::vector<std::string>> kernel_names(std::span<const std::uint64_t> addresses) override {
    return std::vector<std::string>(addresses.size());
  }
};

// A kernel with threads that block and are woken when the test says so. It samples every block, and
// accounts blocks in progress by the rules of bpf/blocked.bpf.c.
class FakeStackSource final : public StackSource {
 public:
  explicit FakeStackSource(const FakeClock& clock) : clock_(clock) {}

  // The only thread of the process of this number blocks from now on, until it is woken.
  void block(std::uint32_t pid) { blocked_[pid] = {now_ns(), now_ns()}; }
  void wake(std::uint32_t pid) {
    const Block block = blocked_.at(pid);
    blocked_.erase(pid);
    samples_.push_back(record(pid, block, block.accounted_ns));
  }

  // Samples of blocks of process 1 that end now, each of 1 us, standing for `weight`.
  void sample(std::size_t count, std::chrono::nanoseconds weight = std::chrono::microseconds(1)) {
    for (std::size_t i = 0; i < count; ++i) {
      const Block block{now_ns() - 1'000, now_ns() - 1'000};
      samples_.push_back(record(1, block, block.since_ns)
                             .standing_for(static_cast<std::uint64_t>(weight.count())));
    }
  }

  [[nodiscard]] bool has_hooks() const override { return hooks; }
  void choose(const SampleChoice& to) override { choice = to; }

  Result<std::uint64_t> drain(const std::function<void(const SampledBlock&)>& take) override {
    const auto samples = std::exchange(samples_, {});
    for (const BlockRecord& sample : samples) take(sample.block());
    if (failure) return *failure;
    return samples.size();
  }

  Status walk_blocked(BlockAge age,
                      const std::function<void(const offcpud_blocked_record&)>& take) override {
    ++walks;
    for (auto& [pid, block] : blocked_) {
      const bool young = now_ns() - block.since_ns < OFFCPUD_IN_PROGRESS_AGE_NS;
      if (young && age == BlockAge::Lasting) continue;
      offcpud_blocked_record found{};
      found.sample = record(pid, block, block.accounted_ns)
                         .flagged(OFFCPUD_SAMPLE_IN_PROGRESS | (young ? OFFCPUD_SAMPLE_YOUNG : 0U))
                         .sample;
      found.sample.user_frames = 0;  // its stack is walked from outside
      found.sample.whole_ns = 0;
      if (!young) block.accounted_ns = now_ns();
      take(found);
    }
    if (after_walk) std::exchange(after_walk, {})();
    if (failure) return *failure;
    return {};
  }

  LostSamples take_lost() override { return std::exchange(lost, {}); }

  Result<std::vector<std::string>> kernel_names(std::span<const std::uint64_t> addresses) override {
    return std::vector<std::string>(addresses.size(), "do_something+0x1/0x2");
  }

  bool hooks = true;
  std::optional<SampleChoice> choice;         // the last one
  std::uint32_t kind = OFFCPUD_BLOCKED_POLL;  // of all blocks
  LostSamples lost;
  int walks = 0;
  std::optional<Error> failure;      // of reading samples and of walks
  std::function<void()> after_walk;  // called once

 private:
  struct Block {
    std::uint64_t since_ns = 0;
    std::uint64_t accounted_ns = 0;  // up to then
  };

  [[nodiscard]] std::uint64_t now_ns() const {
    return static_cast<std::uint64_t>(clock_.now().time_since_epoch().count());
  }

  // What of the block comes after `from_ns`.
  [[nodiscard]] BlockRecord record(std::uint32_t pid, const Block& block,
                                   std::uint64_t from_ns) const {
    BlockRecord record =
        BlockRecord(now_ns() - from_ns).of(pid).in_cgroup(cgroup_of(pid)).in_user({pid});
    record.sample.kind = kind;
    record.sample.user_frames = 1;
    record.sample.since_ns = block.since_ns;
    record.sample.ended_ns = now_ns();
    record.sample.whole_ns = now_ns() - block.since_ns;
    return record;
  }

  const FakeClock& clock_;
  std::map<std::uint32_t, Block> blocked_;  // by pid
  std::vector<BlockRecord> samples_;
};

}  // namespace offcpud::test
