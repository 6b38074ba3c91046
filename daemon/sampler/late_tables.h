// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sampler/object_turns.h"

namespace offcpud {

// Objects that were mapped before their table was made, and the processes that map them. The
// kernel's entries for these mappings name no table, so they are written again once there is one.
// Ended processes and forgotten objects are dropped, so the number of pairs is at most the number
// of mappings in the kernel's map. Used by one thread.
class LateTables {
 public:
  // Queues the object, whose table is to be made for `user`; does nothing if it is queued already.
  void wait(std::uint64_t object, const ShareOwner& user) { waiting_.push(object, user); }
  // Removes the next object from the queue. Nothing: no user for whom `may` is true has one.
  std::optional<ObjectTurns::Turn> next(const ObjectTurns::May& may) { return waiting_.pop(may); }

  // Reports that the mapping at `begin`, of a process of this user, is in the kernel's map without
  // a table for the object. Repeating it does nothing.
  void mapped_without(std::uint32_t tgid, std::uint64_t object, std::uint64_t begin,
                      const ShareOwner& user);
  // Reports that the mapping at `begin` is not, or no longer, in the kernel's map.
  void unmapped(std::uint32_t tgid, std::uint64_t object, std::uint64_t begin);
  // All mappings of the process were removed: it ended, or was evicted.
  void ended(std::uint32_t tgid);
  void forget(std::uint64_t object);

  // The table exists now: queues all processes that lack it.
  void made(std::uint64_t object);

  struct Telling {
    std::uint32_t tgid = 0;
    ShareOwner user;
    std::uint64_t from = 0;  // mappings that begin below this address know their tables
  };
  // Removes the next process from the queue; users take turns. Tables were made since the process
  // was last told of all, but it may have unmapped their objects meanwhile. Nothing: no user for
  // whom `may` is true has one.
  std::optional<Telling> next_to_tell(const ObjectTurns::May& may);
  // Queues the process again, to be told from `telling.from` on, or of all mappings if a table was
  // made since.
  void tell_rest(const Telling& telling);

  // Valid until the next change.
  [[nodiscard]] const std::unordered_set<std::uint32_t>& processes_of(std::uint64_t object) const;

  // The number of (process, object) pairs.
  [[nodiscard]] std::size_t pairs() const;

 private:
  struct Process {
    ShareOwner user;
    // Where the mappings without a table begin, in order, by object; no vector is ever empty. A
    // count would not do: while a process is put in step by step, a mapping may be reported twice,
    // or its end although it was never in.
    std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> mappings;
  };
  void forget(std::uint32_t tgid, std::uint64_t object);

  ObjectTurns waiting_;
  std::unordered_map<std::uint64_t, std::unordered_set<std::uint32_t>> processes_;  // by object
  std::unordered_map<std::uint32_t, Process> objects_;                              // by process
  ObjectTurns to_tell_;  // processes whose entries must be written again
  std::unordered_map<std::uint32_t, std::uint64_t> told_below_;  // address, by process told in part
};

}  // namespace offcpud
