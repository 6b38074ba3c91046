// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/unique_handle.h"

namespace offcpud {

// Keeps the files of new objects and their copies open until a mapping is reported, which shows to
// whom they belong. At most 1,024, because a process may map thousands and the daemon has 8,192
// descriptors. Each is closed after at most 20 s, because a process may end before its mapping is
// reported (KernelRoom). A file that is not held must be opened again. Used by one thread.
class HeldFiles {
 public:
  [[nodiscard]] bool has_room() const;

  // Replaces the object's held file. Closes `file` if there is no room.
  void hold(std::uint64_t object, UniqueFd file);
  void hold_copy(std::uint64_t object, UniqueFd copy);

  // Returns the held file. Not open: there is none.
  UniqueFd take(std::uint64_t object);
  std::vector<UniqueFd> take_copies(std::uint64_t object);
  // Returns how many copies it closed.
  std::size_t forget(std::uint64_t object);

  // Closes all files of each object that has held one for more than 10 s. Returns how many copies
  // it closed. Call it often.
  std::size_t close_old(MonotonicTime now);

  [[nodiscard]] std::size_t size() const { return open_; }

 private:
  struct Held {
    UniqueFd file;
    std::vector<UniqueFd> copies;
    std::uint64_t round = 0;  // the ten-second period in which its first file was added
    [[nodiscard]] std::size_t size() const { return copies.size() + (file ? 1 : 0); }
  };
  Held& at(std::uint64_t object);

  std::unordered_map<std::uint64_t, Held> held_;  // by MappedObject::id
  std::size_t open_ = 0;
  std::uint64_t round_ = 0;  // the present ten-second period
  MonotonicTime next_round_ = MonotonicTime::min();
};

}  // namespace offcpud
