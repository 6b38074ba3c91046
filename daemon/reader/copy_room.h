// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "base/share_owner.h"
#include "base/unique_handle.h"
#include "mappings/opened_file.h"

namespace offcpud {

class CopyRoom;

// Memory for the copy of one file, in a memory file that a reader writes to. If it does not become
// a copy, its destructor returns the memory, even if the reader hangs with the file open. The room
// must outlive it.
class CopyPlace {
 public:
  CopyPlace(CopyPlace&& other) noexcept
      : room_(std::exchange(other.room_, nullptr)),
        memory_(std::move(other.memory_)),
        bytes_(other.bytes_),
        owner_(other.owner_) {}
  CopyPlace& operator=(CopyPlace&&) = delete;
  ~CopyPlace();

  [[nodiscard]] int fd() const { return memory_.get(); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  // Makes the copy of `bytes` bytes, read-only for everybody from now on. It counts against the
  // room as long as somebody has it open.
  Result<UniqueFd> keep(std::uint64_t bytes, const std::optional<OriginalFile>& original);

 private:
  friend class CopyRoom;
  CopyPlace(CopyRoom& room, UniqueFd memory, std::uint64_t bytes, const ShareOwner& owner)
      : room_(&room), memory_(std::move(memory)), bytes_(bytes), owner_(owner) {}

  CopyRoom* room_;
  UniqueFd memory_;
  std::uint64_t bytes_;
  ShareOwner owner_;
};

// Limits the memory of all copies of files: those being made, and those handed out, as long as they
// are open. Thread-safe.
//
// Handed-out copies cannot be taken back, so no user may use up the room. A user may take from the
// last kKept bytes only if at least as much stays free as the user then has. So a single user can
// have everything but kKept.
class CopyRoom {
 public:
  static constexpr std::uint64_t kMost = std::uint64_t{64} << 20;
  static constexpr std::uint64_t kKept = std::uint64_t{16} << 20;
  // Each copy counts as at least this much: small ones take memory, too.
  static constexpr std::uint64_t kLeast = 4096;

  // Reserves memory for a process of this user. Error: there is no room for that user now.
  Result<CopyPlace> reserve(std::uint64_t bytes, const ShareOwner& owner);
  std::uint64_t left();

  // The original of which this descriptor is a copy.
  [[nodiscard]] std::optional<OriginalFile> original_of(int fd);

 private:
  friend class CopyPlace;
  using Inode = std::pair<std::uint64_t, std::uint64_t>;
  struct Copy {
    std::uint64_t bytes = 0;
    std::optional<OriginalFile> original;
    ShareOwner owner;
  };
  struct Held {
    std::uint64_t by_all = 0;
    std::uint64_t by_owner = 0;
  };
  static Inode inode_of(int fd);
  [[nodiscard]] Held held(const ShareOwner& owner) const;
  [[nodiscard]] bool has_room(std::uint64_t bytes, const ShareOwner& owner) const;
  // Finds out which copies are still open, since nothing reports their closing: once a second at
  // most, and only if that may make room.
  void forget_closed();
  void settle(std::uint64_t reserved, int kept, const Copy& copy);

  std::mutex mutex_;
  std::map<ShareOwner, std::uint64_t> reserved_;  // entries are never 0
  std::map<Inode, Copy> copies_;
  MonotonicTime looked_at_ = MonotonicTime::min();
};

}  // namespace offcpud
