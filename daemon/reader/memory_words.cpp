// SPDX-License-Identifier: Apache-2.0
#include "reader/memory_words.h"

#include <algorithm>

namespace offcpud {
namespace {

// What read_process_memory() takes at most in one go, less what an odd beginning costs.
constexpr std::size_t kMostAtOnce = std::size_t{128} << 10;

}  // namespace

MemoryParts::MemoryParts(ProcessMemory& memory, std::uint32_t tgid,
                         std::span<const std::uint64_t> addresses, std::size_t size)
    : size_(size), bytes_(addresses.size() * size) {
  pieces_.reserve(addresses.size());
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    pieces_.push_back({.tgid = tgid,
                       .tid = tgid,
                       .address = addresses[i],
                       .to = std::span(bytes_).subspan(i * size, size)});
  }
  memory.read(pieces_);
}

std::string_view MemoryParts::text(std::size_t part, std::size_t offset, std::size_t length) const {
  if (!has(part) || offset > size_ || length > size_ - offset) return {};
  const std::byte* const begin = bytes_.data() + part * size_ + offset;
  return {reinterpret_cast<const char*>(begin), length};
}

std::string_view MemoryParts::text(std::size_t part) const {
  const std::string_view all = text(part, 0, size_);
  const std::size_t end = all.find('\0');
  return end == std::string_view::npos ? std::string_view() : all.substr(0, end);
}

std::vector<std::byte> MemoryWords::range(std::uint64_t address, std::size_t size) const {
  std::vector<std::byte> bytes(size);
  std::vector<MemoryPiece> pieces;
  for (std::size_t at = 0; at < size; at += kMostAtOnce) {
    pieces.push_back({.tgid = tgid_,
                      .tid = tgid_,
                      .address = address + at,
                      .to = std::span(bytes).subspan(at, std::min(kMostAtOnce, size - at))});
  }
  memory_.read(pieces);
  std::size_t got = 0;
  for (const MemoryPiece& piece : pieces) {
    got += piece.got;
    if (piece.got != piece.to.size()) break;
  }
  bytes.resize(got);
  return bytes;
}

}  // namespace offcpud
