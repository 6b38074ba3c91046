// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/wait_for.h"

namespace offcpud {

// What one piece of evidence is about: a thread at a place, a thread and who woke it, or a thread.
struct EvidenceKey {
  std::uint32_t tgid = 0;
  std::uint32_t tid = 0;
  std::uint64_t what = 0;

  friend bool operator==(const EvidenceKey&, const EvidenceKey&) = default;
};

// What was seen of it. Sums decay; times are CLOCK_MONOTONIC.
struct Evidence {
  std::uint64_t process_start_ns = 0;  // of the process that had these numbers
  MonotonicTime began{}, seen{}, decayed{};
  float wakeups = 0;  // waits that were seen to end
  // Time of waits that ended, and of this the time of those with a sign.
  float ended_ns = 0, timer_ns = 0, lock_ns = 0, answer_ns = 0;
  float episodes = 0;  // estimate of all that the sampled ones stand for
  // What is said, and what so many windows in a row would rather say.
  std::optional<WaitFor> said, rather;
  std::uint8_t agreed = 0;
  std::uint32_t window = 0;  // the last one that was counted for these
};

// Evidence by key, bounded in number: the one that was not touched for longest goes first. No
// process takes more than half of the room, so that one with very many threads does not take all
// that is known of others. Used by one thread. Allocates only while it grows.
class EvidenceTable {
 public:
  explicit EvidenceTable(std::size_t most);

  // Valid until the next call of touch(); null: nothing is known.
  [[nodiscard]] const Evidence* find(const EvidenceKey& key) const;
  // The same for whoever may change it; it is not touched.
  Evidence* find(const EvidenceKey& key);
  // Makes it the last to go. New or of another process of the same number: it is empty. Null: its
  // process has too much.
  Evidence* touch(const EvidenceKey& key, std::uint64_t process_start_ns, MonotonicTime now);
  // Forgets what was not touched since then.
  void forget_before(MonotonicTime then);

  [[nodiscard]] std::size_t size() const { return slots_.size() - free_count_; }
  // What was taken away or not taken in, for lack of room.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  using Index = std::uint32_t;
  static constexpr Index kNone = ~Index{0};

  struct Slot {
    EvidenceKey key;
    Evidence evidence;
    Index chained = kNone;               // next one of the bucket
    Index older = kNone, newer = kNone;  // by last touch
  };

  [[nodiscard]] std::size_t bucket_of(const EvidenceKey& key) const;
  [[nodiscard]] Index index_of(const EvidenceKey& key) const;
  std::uint32_t& share_of(const EvidenceKey& key) { return shares_[key.tgid % shares_.size()]; }
  Index take_slot();
  void forget_oldest();
  void unchain(Index index);
  void unlink(Index index);
  void link_newest(Index index);

  std::size_t most_;
  std::vector<Index> buckets_;  // a power of two of them
  std::vector<Slot> slots_;
  Index oldest_ = kNone, newest_ = kNone;
  Index free_ = kNone;  // slots without evidence, by Slot::chained
  std::size_t free_count_ = 0;
  std::array<std::uint32_t, 1024> shares_{};  // slots by process; few of these share a number
  std::uint64_t dropped_ = 0;
};

}  // namespace offcpud
