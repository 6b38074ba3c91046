// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_handle.h"
#include "mappings/opened_file.h"

namespace offcpud {

class CopyRoom;

// Memory for the copy of one file, in a file that a reader writes to. What becomes no copy is given
// back, also where the reader hangs and keeps the file open. The room must outlive it.
class CopyPlace {
 public:
  CopyPlace(CopyPlace&& other) noexcept
      : room_(std::exchange(other.room_, nullptr)),
        memory_(std::move(other.memory_)),
        bytes_(other.bytes_) {}
  CopyPlace& operator=(CopyPlace&&) = delete;
  ~CopyPlace();

  [[nodiscard]] int fd() const { return memory_.get(); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  // The copy, of so many bytes, for reading: nobody can change it any more. It counts as long as
  // somebody has it open.
  Result<UniqueFd> keep(std::uint64_t bytes, const std::optional<OriginalFile>& original);

 private:
  friend class CopyRoom;
  CopyPlace(CopyRoom& room, UniqueFd memory, std::uint64_t bytes)
      : room_(&room), memory_(std::move(memory)), bytes_(bytes) {}

  CopyRoom* room_;
  UniqueFd memory_;
  std::uint64_t bytes_;
};

// What copies of files take together: those that are being made, and those that were handed out, as
// long as somebody has them open. Thread-safe.
class CopyRoom {
 public:
  static constexpr std::uint64_t kMost = std::uint64_t{64} << 20;
  static constexpr std::uint64_t kLeast =
      4096;  // of each copy: also those of a few bytes take memory

  // The error says that there is no room now.
  Result<CopyPlace> reserve(std::uint64_t bytes);
  std::uint64_t left();

  // What this descriptor is a copy of.
  [[nodiscard]] std::optional<OriginalFile> original_of(int fd);

 private:
  friend class CopyPlace;
  using Inode = std::pair<std::uint64_t, std::uint64_t>;
  struct Copy {
    std::uint64_t bytes = 0;
    std::optional<OriginalFile> original;
  };
  static Inode inode_of(int fd);
  [[nodiscard]] std::uint64_t held() const;
  std::uint64_t left_now();
  void forget_closed();
  void settle(std::uint64_t reserved, int kept, const Copy& copy);

  std::mutex mutex_;
  std::uint64_t reserved_ = 0;
  std::map<Inode, Copy> copies_;
  MonotonicTime looked_at_ = MonotonicTime::min();
};

}  // namespace offcpud
