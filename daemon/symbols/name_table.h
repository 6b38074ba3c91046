// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

namespace offcpud {

// Names one after another, each ended by a zero byte, as in string tables; names may share bytes. A
// large table grows and shrinks without a second copy, because realloc(3) moves its pages
// (mremap(2)).
class NameTable {
 public:
  // Longer names end here; they could not be shown anyway.
  static constexpr std::size_t kMaxName = 4096;

  // Adds `size` bytes of undefined content, followed by a zero byte, and returns them.
  char* grow(std::size_t size);
  void shrink(std::size_t size);

  // The name at an offset below size().
  [[nodiscard]] std::string_view at(std::size_t offset) const;
  [[nodiscard]] bool is_empty_at(std::size_t offset) const { return bytes_[offset] == '\0'; }
  [[nodiscard]] std::size_t size() const { return size_; }

  // Keeps only the names at these ascending offsets. Returns their new offsets in the same order.
  std::vector<std::uint32_t> keep_only(const std::vector<std::uint32_t>& offsets);

  bool operator==(const NameTable& other) const;

 private:
  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };
  void resize(std::size_t size);

  std::unique_ptr<char[], Free> bytes_;  // ends with a zero byte
  std::size_t size_ = 0;
};

}  // namespace offcpud
