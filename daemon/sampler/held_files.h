// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/unique_handle.h"

namespace offcpud {

// Files of objects that were found, and copies of them, until a mapping is told of: by then a
// process is known that has them. A process may map thousands and the daemon has 8,192 descriptors,
// so they are 1,024 at most. A process may also end before it is told of (KernelRoom), so each is
// closed after 20 s at most. What is not held has to be opened again. Used by one thread.
class HeldFiles {
 public:
  [[nodiscard]] bool has_room() const;

  // In the place of another file of the object. Where there is no room, it is closed.
  void hold(std::uint64_t object, UniqueFd file);
  void hold_copy(std::uint64_t object, UniqueFd copy);

  // Not open: it is not held.
  UniqueFd take(std::uint64_t object);
  std::vector<UniqueFd> take_copies(std::uint64_t object);
  void forget(std::uint64_t object);

  // Closes all of an object of which something has been held for longer than 10 s. To be called
  // often. Returns how many copies these were.
  std::size_t close_old(MonotonicTime now);

  [[nodiscard]] std::size_t size() const { return open_; }

 private:
  struct Held {
    UniqueFd file;
    std::vector<UniqueFd> copies;
    std::uint64_t round = 0;  // in which the first one came
    [[nodiscard]] std::size_t size() const { return copies.size() + (file ? 1 : 0); }
  };
  Held& at(std::uint64_t object);

  std::unordered_map<std::uint64_t, Held> held_;  // by MappedObject::id
  std::size_t open_ = 0;
  std::uint64_t round_ = 0;  // of 10 s
  MonotonicTime next_round_ = MonotonicTime::min();
};

}  // namespace offcpud
