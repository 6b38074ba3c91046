// SPDX-License-Identifier: Apache-2.0
#include "symbols/name_table.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace offcpud {

void NameTable::resize(std::size_t size) {
  if (size == 0) {
    bytes_.reset();
  } else {
    auto* const moved = static_cast<char*>(std::realloc(bytes_.get(), size));
    if (moved == nullptr) throw std::bad_alloc();
    (void)bytes_.release();  // realloc() has freed it, or returned it
    bytes_.reset(moved);
  }
  size_ = size;
}

char* NameTable::grow(std::size_t size) {
  const std::size_t before = size_;
  resize(before + size + 1);
  bytes_[size_ - 1] = '\0';
  return &bytes_[before];
}

void NameTable::shrink(std::size_t size) {
  resize(size);
  if (size > 0) bytes_[size - 1] = '\0';
}

std::string_view NameTable::at(std::size_t offset) const {
  const char* const name = &bytes_[offset];
  return {name, ::strnlen(name, std::min(size_ - offset, kMaxName))};
}

std::vector<std::uint32_t> NameTable::keep_only(const std::vector<std::uint32_t>& offsets) {
  std::vector<std::uint32_t> moved;
  moved.reserve(offsets.size());
  std::size_t end = 0;  // end of the names kept so far, in their old places
  std::size_t to = 0;   // and in their new places
  for (const std::size_t from : offsets) {
    const std::size_t name_end = from + at(from).size();
    // A gap leaves room for a zero byte. Without one, the name is part of the name before.
    const bool shares = to > 0 && from <= end;
    if (!shares) {
      if (to > 0) bytes_[to++] = '\0';
      end = from;
    }
    if (name_end > end) {
      std::memmove(&bytes_[to], &bytes_[end], name_end - end);
      to += name_end - end;
      end = name_end;
    }
    moved.push_back(static_cast<std::uint32_t>(to - (end - from)));
  }
  shrink(to > 0 ? to + 1 : 0);
  return moved;
}

bool NameTable::operator==(const NameTable& other) const {
  return size_ == other.size_ &&
         (size_ == 0 || std::memcmp(bytes_.get(), other.bytes_.get(), size_) == 0);
}

}  // namespace offcpud
