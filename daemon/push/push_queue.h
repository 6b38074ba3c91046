// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "base/clock.h"

namespace offcpud {

// A profile to be sent: gzipped pprof, and the time that it is of.
struct PushItem {
  WallTime begin, end;
  std::string pprof;
};

// Profiles in the order in which they were made, bounded by bytes and number: beyond, the oldest is
// dropped, but not one that is on its way. Single-threaded.
class PushQueue {
 public:
  static constexpr std::size_t kMostItems = 4096;

  explicit PushQueue(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // All three return how many were dropped; none of them is on its way.
  std::size_t push(PushItem item);
  std::size_t set_most_bytes(std::uint64_t most_bytes);
  std::size_t clear();

  // The oldest, which stays in the queue while it is sent; there is one.
  std::shared_ptr<const PushItem> begin_sending();
  // Takes it out, or leaves it in its place for another attempt, and returns how many were dropped
  // because they had to wait for that.
  void remove_sent();
  std::size_t keep_unsent();

  // Counts how often the oldest was sent in vain; how often by now.
  unsigned count_attempt() { return ++attempts_; }
  void forget_attempts() { attempts_ = 0; }

  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  std::size_t shrink();

  std::uint64_t most_bytes_;
  std::deque<std::shared_ptr<const PushItem>> items_;
  std::uint64_t bytes_ = 0;
  bool sending_ = false;   // the first one
  unsigned attempts_ = 0;  // at the first one
};

}  // namespace offcpud
