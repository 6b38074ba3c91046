// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace offcpud {

// The bytes of an object: an open file or memory, which must outlive the source. A file is read and
// never mapped: whoever may write to it could truncate it under a mapping, and SIGBUS would end the
// daemon. The file position does not matter and stays.
class ByteSource {
 public:
  // An error unless the file is a regular one: reading another kind might block.
  static Result<ByteSource> from_file(int fd);
  explicit ByteSource(std::string_view memory) : memory_(memory), size_(memory.size()) {}

  [[nodiscard]] std::uint64_t size() const { return size_; }

  // Exactly `size` bytes at `offset`. An error if `size` is more than `limit`, or reaches beyond
  // the end: whatever number a file holds, the daemon allocates no more than the limit and the
  // file.
  [[nodiscard]] Result<std::vector<std::uint8_t>> read(std::uint64_t offset, std::uint64_t size,
                                                       std::uint64_t limit) const;
  // As many of the `most` bytes at `offset` as there are.
  [[nodiscard]] Result<std::vector<std::uint8_t>> read_up_to(std::uint64_t offset,
                                                             std::uint64_t most) const;
  // Fills memory of the caller with the bytes at `offset`; an error if there are fewer.
  Status read_into(std::uint64_t offset, std::span<std::byte> into) const;

 private:
  ByteSource(int fd, std::uint64_t size) : fd_(fd), size_(size) {}

  int fd_ = -1;  // -1: memory
  std::string_view memory_;
  std::uint64_t size_ = 0;
};

}  // namespace offcpud
