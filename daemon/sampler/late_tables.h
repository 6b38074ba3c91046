// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "sampler/object_turns.h"

namespace offcpud {

// Objects whose table is to be made after processes have mapped them, and these processes: what the
// kernel knows of their mappings names no table, so each has to be told again once there is one.
// Forgets processes that end and objects that are forgotten: it remembers no more than one pair of
// both for each mapping in the kernel's map. Used by one thread.
class LateTables {
 public:
  // The table of an object is to be made for a user, unless it waits already.
  void wait(std::uint64_t object, const ShareOwner& user) { waiting_.push(object, user); }
  // Whose turn it is; it waits no longer. Nothing: none of a user for whom `may` is true.
  std::optional<ObjectTurns::Turn> next(const ObjectTurns::May& may) { return waiting_.pop(may); }

  // A mapping of the object was put into the kernel's map without the table, for a process of this
  // user.
  void mapped_without(std::uint32_t tgid, std::uint64_t object, const ShareOwner& user);
  // One was taken out, with or without the table.
  void unmapped(std::uint32_t tgid, std::uint64_t object);
  // All of the process's were: it ended, or gives way to others.
  void ended(std::uint32_t tgid);
  void forget(std::uint64_t object);

  // It is there: whoever has mapped the object without it is to be told.
  void made(std::uint64_t object);

  struct Told {
    std::uint32_t tgid = 0;
    ShareOwner user;
  };
  // A process that is to be told of all tables that were made since it was last told, by turns of
  // the users. It may map these objects no longer. Nothing: none of a user for whom `may` is true.
  std::optional<Told> next_to_tell(const ObjectTurns::May& may);

  // Valid until the next change.
  [[nodiscard]] const std::unordered_set<std::uint32_t>& processes_of(std::uint64_t object) const;

  // Of processes and objects.
  [[nodiscard]] std::size_t pairs() const;

 private:
  struct Process {
    ShareOwner user;
    std::unordered_map<std::uint64_t, std::uint32_t> mappings;  // how many, by object; never empty
  };
  void forget(std::uint32_t tgid, std::uint64_t object);

  ObjectTurns waiting_;
  std::unordered_map<std::uint64_t, std::unordered_set<std::uint32_t>> processes_;  // by object
  std::unordered_map<std::uint32_t, Process> objects_;                              // by process
  ObjectTurns to_tell_;                                                             // processes
};

}  // namespace offcpud
