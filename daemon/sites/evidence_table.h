// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/share_owner.h"
#include "base/share_slots.h"
#include "base/wait_for.h"

namespace offcpud {

// What one piece of evidence is about: a thread at a place or at all places of a site, a thread and
// who woke it, or a thread.
struct EvidenceKey {
  std::uint32_t tgid = 0;
  std::uint32_t tid = 0;
  std::uint64_t what = 0;

  friend bool operator==(const EvidenceKey&, const EvidenceKey&) = default;
};

// The process that a key is of. The same number with another start is another process.
struct EvidenceProcess {
  std::uint64_t start_ns = 0;  // CLOCK_BOOTTIME
  ShareOwner owner{};
};

// What was seen of it. Sums decay; times are CLOCK_MONOTONIC.
struct Evidence {
  std::uint64_t process_start_ns = 0;  // of the process that had these numbers
  MonotonicTime began{}, seen{}, decayed{};
  float wakeups = 0;  // waits that were seen to end
  // Time of waits that ended, and of this the time of those with a sign.
  float ended_ns = 0, timer_ns = 0, answer_ns = 0;
  // Ended by threads that wait there at times; of this, by those whose waits such threads end, too.
  float peers_ns = 0, lock_ns = 0;
  float timer_ends = 0, peer_ends = 0;  // how often its own timer and such threads ended its waits
  float episodes = 0;                   // estimate of all that the sampled ones stand for
  // What is said, and what so many windows in a row would rather say.
  std::optional<WaitFor> said, rather;
  std::uint8_t agreed = 0;
  std::uint32_t window = 0;  // the last one that was counted for these
};

// Evidence by key, bounded in number. When there is no room, what was not touched for longest gives
// way (ShareSlots): neither a process with very many threads nor a user with very many processes
// takes what is known of others. Used by one thread.
class EvidenceTable {
 public:
  explicit EvidenceTable(std::size_t most);

  // Valid until the next call of touch(); null: nothing is known.
  [[nodiscard]] const Evidence* find(const EvidenceKey& key) const;
  // The same for whoever may change it; it is not touched.
  Evidence* find(const EvidenceKey& key);
  // Makes it the last of its process to go. New or of another process of the same number: it is
  // empty, and what was known of the other one is forgotten. Null: its process is the one that
  // gives way, and all that it has was touched at this very time.
  Evidence* touch(const EvidenceKey& key, const EvidenceProcess& process, MonotonicTime now);
  // Forgets what was not touched since then.
  void forget_before(MonotonicTime then);

  [[nodiscard]] std::size_t size() const { return shares_.size(); }
  // What was taken away or not taken in, for lack of room.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  using Index = ShareSlots::Slot;
  static constexpr Index kNone = ~Index{0};

  struct Slot {
    EvidenceKey key;
    Evidence evidence;
    Index chained = kNone;  // next one of the bucket
  };

  [[nodiscard]] std::size_t bucket_of(const EvidenceKey& key) const;
  [[nodiscard]] Index index_of(const EvidenceKey& key) const;
  void forget_other_process(std::uint32_t tgid, std::uint64_t start_ns);
  bool make_room(std::uint32_t tgid, const ShareOwner& owner, MonotonicTime now);
  Index take_slot(const EvidenceKey& key, const EvidenceProcess& process, MonotonicTime now);
  void forget(Index index);

  std::vector<Index> buckets_;  // a power of two of them
  std::vector<Slot> slots_;
  ShareSlots shares_;  // of slots_
  std::uint64_t dropped_ = 0;
};

}  // namespace offcpud
