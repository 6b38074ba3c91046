// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/share_owner.h"
#include "base/share_ranks.h"

namespace offcpud {

// Knows who holds the slots of a bounded table, and in which order they were touched. When all are
// taken, the largest process of the user who holds most gives up the slot that it touched least
// recently (ShareRanks). So neither a process with very many entries nor a user with very many
// processes takes the slots of others. The caller keeps the contents of the slots, and chooses the
// clock, which must not go back. Used by one thread.
class ShareSlots {
 public:
  // 0, 1, 2 and so on; slots that were given back are taken first.
  using Slot = std::uint32_t;

  explicit ShareSlots(std::size_t most) : most_(most) {}

  [[nodiscard]] std::size_t size() const { return entries_.size() - free_count_; }
  [[nodiscard]] bool is_full() const { return size() >= most_; }

  // The slot to give back so that this process gets one more. nullopt: it gets none. It would have
  // to give way itself, but has no slot, or touched all its slots at this same time: then the new
  // one would be the next to go. `owner` counts only for a process without slots; one with slots
  // keeps its owner.
  [[nodiscard]] std::optional<Slot> who_gives_way(std::uint32_t tgid, const ShareOwner& owner,
                                                  MonotonicTime now) const;
  // Takes a free slot, and touches it. Call it only while one is free.
  Slot take(std::uint32_t tgid, const ShareOwner& owner, MonotonicTime now);
  void touch(Slot slot, MonotonicTime now);
  void give_back(Slot slot);

  // The slot that this process touched least recently. Nothing: it has none.
  [[nodiscard]] std::optional<Slot> oldest_of(std::uint32_t tgid) const;
  // All slots that were not touched since then.
  [[nodiscard]] std::vector<Slot> untouched_since(MonotonicTime then) const;
  [[nodiscard]] MonotonicTime touched(Slot slot) const { return entries_[slot].touched; }

 private:
  static constexpr Slot kNone = ~Slot{0};

  struct Entry {
    MonotonicTime touched{};
    std::uint32_t tgid = 0;
    Slot older = kNone, newer = kNone;  // of the process; `newer` of a free one: the next free one
  };
  struct Process {
    ShareOwner owner;
    std::size_t held = 0;
    Slot oldest = kNone, newest = kNone;
  };
  void hold(std::uint32_t tgid, Process& process, std::size_t held);
  void link_newest(Process& process, Slot slot);
  void unlink(Process& process, Slot slot);

  std::size_t most_;
  std::vector<Entry> entries_;
  Slot free_ = kNone;
  std::size_t free_count_ = 0;
  std::unordered_map<std::uint32_t, Process> processes_;  // by tgid; only those with slots
  ShareRanks ranks_;                                      // of slots
};

}  // namespace offcpud
