// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "reader/process_memory.h"

namespace offcpud::testing_jit {

// The memory of a process, made of pieces at made-up addresses. What is outside of them cannot be
// read.
class FakeMemory : public ProcessMemory {
 public:
  void read(std::span<MemoryPiece> pieces) override;

  // Puts it at an address, or where nothing is yet. Returns where.
  std::uint64_t put(std::span<const std::byte> bytes, std::uint64_t at = 0);
  std::uint64_t put_text(const std::string& text);
  std::uint64_t put_words(const std::vector<std::uint64_t>& words);
  template <class T>
  void set(std::uint64_t address, T value) {
    std::memcpy(at(address, sizeof(T)), &value, sizeof(T));
  }
  std::uint64_t reads = 0;  // pieces that were asked for

 private:
  std::byte* at(std::uint64_t address, std::size_t size);
  std::map<std::uint64_t, std::vector<std::byte>> parts_;
  std::uint64_t next_ = 0x10000000;
};

// A process with a HotSpot of a layout of its own: a code heap, and methods in it.
class FakeHotspot : public FakeMemory {
 public:
  static constexpr std::uint64_t kBase = 0x7f0000000000, kHeap = 0x7e0000000000;
  static constexpr std::uint64_t kHeapSize = 0x10000;

  // `linked_at`: address of the beginning of libjvm.so as linked.
  explicit FakeHotspot(std::uint64_t linked_at = 0);

  // Puts a blob at an offset of the heap that is a multiple of 128. Returns where its code begins.
  struct Blob {
    std::uint64_t offset = 0, size = 256;
    std::string kind = "nmethod";
    std::uint32_t frame_words = 4;
    std::string class_name = "shop/Till", method = "open";
  };
  std::uint64_t add(const Blob& blob);
  void remove_field(const std::string& type, const std::string& field);

 private:
  std::uint64_t put_symbol(const std::string& text);
  std::uint64_t put_heaps();
  std::uint64_t put_fields(std::uint64_t heaps);
  void put_library(const std::map<std::string, std::uint64_t>& variables);

  std::map<std::pair<std::string, std::string>, std::uint64_t> entries_;  // of the table of fields
  std::uint64_t segments_ = 0;
  std::uint64_t linked_at_;
};

}  // namespace offcpud::testing_jit
