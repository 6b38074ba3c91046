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

// What one piece of evidence is about: a thread at a place or at all places of a site; a thread and
// who woke it; a thread; or, if `tid` is 0, a function of a process.
struct EvidenceKey {
  std::uint32_t tgid = 0;
  std::uint32_t tid = 0;
  std::uint64_t what = 0;

  friend bool operator==(const EvidenceKey&, const EvidenceKey&) = default;
};

// The process of a key. The same number with another start is another process.
struct EvidenceProcess {
  std::uint64_t start_ns = 0;  // CLOCK_BOOTTIME
  ShareOwner owner{};
};

// What was seen for one key. Sums decay; times are CLOCK_MONOTONIC.
struct Evidence {
  std::uint64_t process_start_ns = 0;  // of the process that had these numbers
  MonotonicTime began{}, seen{}, decayed{};
  float wakeups = 0;  // waits that were seen to end
  // Time of waits that ended; the part that its own timer ended, and the part that an answer ended.
  float ended_ns = 0, timer_ns = 0, answer_ns = 0;
  // Time of waits that were ended by peers: threads that at times wait there, too. Time of waits
  // that ended as those for a lock do (WakerEvidence).
  float peers_ns = 0, lock_ns = 0;
  float timer_ends = 0, peer_ends = 0;  // how often its own timer and peers ended its waits
  float episodes = 0;                   // estimated number that the samples stand for
  float jobs = 0;                       // of these, at sites where threads wait for work
  // What names said of the waits of a function: a bit for each WaitFor.
  std::uint16_t named = 0;
  // The class in force, and the one that at least the last `agreed` windows found.
  std::optional<WaitFor> said, rather;
  std::uint8_t agreed = 0;
  std::uint32_t window = 0;  // the last one that was counted for these
};

// Evidence by key, bounded in number. When there is no room, the entry touched least recently gives
// way (ShareSlots), so that neither a process with very many threads nor a user with very many
// processes takes the entries of others. Used by one thread.
class EvidenceTable {
 public:
  explicit EvidenceTable(std::size_t most);

  // Valid until the next call of touch(); null: nothing is known.
  [[nodiscard]] const Evidence* find(const EvidenceKey& key) const;
  // The same, for a caller that changes it. Unlike touch(), it does not keep the entry longer.
  Evidence* find(const EvidenceKey& key);
  // Finds the entry of the key, or makes an empty one; of its process, it is then the last to give
  // way. If the number now belongs to another process, all entries of the former one are forgotten.
  // Null: its process must give way, but has no entry, or touched all of them at this very time.
  Evidence* touch(const EvidenceKey& key, const EvidenceProcess& process, MonotonicTime now);
  // Forgets what was not touched since then.
  void forget_before(MonotonicTime then);

  [[nodiscard]] std::size_t size() const { return shares_.size(); }
  // Entries that were removed or refused for lack of room.
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
