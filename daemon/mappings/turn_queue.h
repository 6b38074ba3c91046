// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

namespace offcpud {

// A queue of processes to retry, each at most once. The one waiting longest is next, so none delays
// the others by failing again. Used by one thread.
class TurnQueue {
 public:
  // Appends; does nothing if it is queued already.
  void push(std::uint32_t tgid) {
    if (turns_.try_emplace(tgid, last_turn_ + 1).second) waiting_.emplace(++last_turn_, tgid);
  }

  // What pop() would return. Nothing: the queue is empty.
  [[nodiscard]] std::optional<std::uint32_t> next() const {
    if (waiting_.empty()) return std::nullopt;
    return waiting_.begin()->second;
  }

  // Nothing: the queue is empty.
  std::optional<std::uint32_t> pop() {
    const auto tgid = next();
    if (tgid) erase(*tgid);
    return tgid;
  }

  // Like pop(), but removes the newest entry.
  std::optional<std::uint32_t> pop_last() {
    if (waiting_.empty()) return std::nullopt;
    const std::uint32_t tgid = waiting_.rbegin()->second;
    erase(tgid);
    return tgid;
  }

  void erase(std::uint32_t tgid) {
    const auto turn = turns_.find(tgid);
    if (turn == turns_.end()) return;
    waiting_.erase(turn->second);
    turns_.erase(turn);
  }

  [[nodiscard]] bool contains(std::uint32_t tgid) const { return turns_.contains(tgid); }
  [[nodiscard]] std::size_t size() const { return turns_.size(); }

 private:
  std::map<std::uint64_t, std::uint32_t> waiting_;          // in order of waiting
  std::unordered_map<std::uint32_t, std::uint64_t> turns_;  // position of each process
  std::uint64_t last_turn_ = 0;
};

}  // namespace offcpud
