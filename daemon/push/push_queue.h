// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "base/clock.h"

namespace offcpud {

// A profile to send: gzipped pprof, and the time that it covers.
struct PushItem {
  WallTime begin, end;
  std::string pprof;
};

// Profiles in the order in which they were made, limited by bytes and number. Beyond the limits the
// oldest is dropped, except one that is being sent. Single-threaded.
class PushQueue {
 public:
  static constexpr std::size_t kMostItems = 4096;

  explicit PushQueue(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // All three return how many profiles they dropped. They never drop the one being sent.
  std::size_t push(PushItem item);
  std::size_t set_most_bytes(std::uint64_t most_bytes);
  std::size_t clear();

  // The oldest profile, which stays in the queue while it is sent. Call it only if there is one.
  std::shared_ptr<const PushItem> begin_sending();
  // End the sending: remove_sent() takes the profile out; keep_unsent() leaves it for another
  // attempt, and returns how many profiles were dropped now that the limits apply to it again.
  void remove_sent();
  std::size_t keep_unsent();

  // Counts failed attempts to send the oldest profile; returns how many there were.
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
  bool sending_ = false;   // the first item is being sent
  unsigned attempts_ = 0;  // failed ones of the first item
};

}  // namespace offcpud
