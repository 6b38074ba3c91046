// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace offcpud {

// The bytes of an object: an open file, or memory, which must outlive the source. A file is read
// and never mapped: whoever may write to it could truncate it under a mapping, and SIGBUS would end
// the daemon. Ignores the file position and does not change it.
class ByteSource {
 public:
  // Error: the file is not a regular one, and reading it might block.
  static Result<ByteSource> from_file(int fd);
  explicit ByteSource(std::string_view memory) : memory_(memory), size_(memory.size()) {}

  [[nodiscard]] std::uint64_t size() const { return size_; }

  // Exactly `size` bytes at `offset`. Error if `size` is more than `limit` or reaches beyond the
  // end. So numbers in a file never make the daemon allocate more than the limit or the file's
  // size.
  [[nodiscard]] Result<std::vector<std::uint8_t>> read(std::uint64_t offset, std::uint64_t size,
                                                       std::uint64_t limit) const;
  // Up to `most` bytes at `offset`; fewer only at the end.
  [[nodiscard]] Result<std::vector<std::uint8_t>> read_up_to(std::uint64_t offset,
                                                             std::uint64_t most) const;
  // Fills the caller's memory with the bytes at `offset`; an error if there are fewer.
  Status read_into(std::uint64_t offset, std::span<std::byte> into) const;

 private:
  ByteSource(int fd, std::uint64_t size) : fd_(fd), size_(size) {}

  int fd_ = -1;  // -1: memory
  std::string_view memory_;
  std::uint64_t size_ = 0;
};

}  // namespace offcpud
