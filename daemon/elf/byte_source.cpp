// SPDX-License-Identifier: Apache-2.0
#include "elf/byte_source.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

namespace offcpud {

Result<ByteSource> ByteSource::from_file(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return Error::from_errno(errno, "stat", "object");
  if (!S_ISREG(info.st_mode)) return Error("read object: not a regular file");
  return ByteSource(fd, static_cast<std::uint64_t>(info.st_size));
}

Result<std::vector<std::uint8_t>> ByteSource::read(std::uint64_t offset, std::uint64_t size,
                                                   std::uint64_t limit) const {
  if (size > limit) {
    return Error("read object: " + std::to_string(size) + " bytes, more than the limit of " +
                 std::to_string(limit));
  }
  if (offset > size_ || size > size_ - offset) return Error("read object: beyond its end");
  std::vector<std::uint8_t> bytes(size);
  TRY_VOID(read_into(offset, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

Result<std::vector<std::uint8_t>> ByteSource::read_up_to(std::uint64_t offset,
                                                         std::uint64_t most) const {
  offset = std::min(offset, size_);
  return read(offset, std::min(most, size_ - offset), most);
}

Status ByteSource::read_into(std::uint64_t offset, std::span<std::byte> into) const {
  if (offset > size_ || into.size() > size_ - offset) return Error("read object: beyond its end");
  if (fd_ < 0) {
    std::ranges::copy(std::as_bytes(std::span(memory_.substr(offset, into.size()))), into.begin());
    return {};
  }
  while (!into.empty()) {
    const ssize_t got = ::pread(fd_, into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno(errno, "read", "object");
    if (got == 0) return Error("read object: it became shorter meanwhile");
    into = into.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return {};
}

}  // namespace offcpud
