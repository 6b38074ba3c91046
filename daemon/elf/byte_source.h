// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace offcpud {

// Where the bytes of an object come from: an open file or memory, owned by neither. A file is read,
// never mapped: who may write to it could cut it short under a mapping, and end the daemon with
// SIGBUS.
class ByteSource {
 public:
  // A regular file; anything else is an error, as reading it might block.
  static Result<ByteSource> from_file(int fd);
  explicit ByteSource(std::string_view memory) : memory_(memory), size_(memory.size()) {}

  [[nodiscard]] std::uint64_t size() const { return size_; }

  // Exactly `size` bytes at `offset`. An error if that is more than `limit`, or reaches beyond the
  // end, so that no number found in a file makes the daemon allocate what is not there.
  [[nodiscard]] Result<std::string> read(std::uint64_t offset, std::uint64_t size,
                                         std::uint64_t limit) const;
  // The same into memory of the caller's: as many bytes as it has room for.
  Status read_into(std::uint64_t offset, std::span<char> into) const;

 private:
  ByteSource(int fd, std::uint64_t size) : fd_(fd), size_(size) {}

  int fd_ = -1;  // -1: memory
  std::string_view memory_;
  std::uint64_t size_ = 0;
};

}  // namespace offcpud
