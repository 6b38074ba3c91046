// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "sample.h"
#include "snapshot/snapshot.h"

namespace offcpud {

// Names for addresses, asked when a snapshot is made.
class StackNames {
 public:
  virtual ~StackNames() = default;
  virtual StackFrame kernel(std::uint64_t address) = 0;
  // `process_start_ns` and `tgid` are the process, which may have ended.
  virtual StackFrame user(std::uint32_t tgid, std::uint64_t process_start_ns,
                          std::uint64_t address) = 0;
  // A frame for a user stack that could not be walked to its root.
  virtual StackFrame incomplete(std::uint32_t user_end) = 0;
};

// Who a sample is about, in words.
struct SampleOwner {
  std::uint32_t local_pid = 0;
  std::string comm;    // of the process
  std::string cgroup;  // path
};
using OwnerOf = std::function<SampleOwner(const offcpud_sample&)>;

// Sampled blocks summed by where and whose they are: equal addresses are one entry, whatever the
// number of samples. Exact comparison, so two stacks are never taken for one. Single-threaded.
class BlockStacks {
 public:
  // Different stacks that are kept apart; time of further ones is summed under one frame that says
  // so, and counted.
  explicit BlockStacks(std::size_t most) : most_(most) {}

  void add(const offcpud_sample_record& record);

  // Time that samples stand for which the kernel could not hand over.
  void add_lost(std::uint64_t ns) { lost_ns_ += ns; }

  // Everything since the last call.
  Snapshot cut(StackNames& names, const OwnerOf& owner_of);

  [[nodiscard]] std::uint64_t samples() const { return samples_; }  // since the last cut
  [[nodiscard]] std::uint64_t overflowed() const {
    return overflowed_;
  }  // samples, since the start

 private:
  struct Sum {
    offcpud_sample sample;  // the first one's
    std::uint64_t ns = 0;
    double episodes = 0;
  };
  // Frames, and the words that tell whose they are.
  using Key = std::vector<std::uint64_t>;
  struct HashKey {
    std::size_t operator()(const Key& key) const;
  };

  std::size_t most_;
  std::unordered_map<Key, Sum, HashKey> sums_;
  std::uint64_t overflow_ns_ = 0;
  std::uint64_t lost_ns_ = 0;
  std::uint64_t samples_ = 0;
  std::uint64_t overflowed_ = 0;
};

}  // namespace offcpud
