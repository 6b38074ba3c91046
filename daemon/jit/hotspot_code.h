// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "jit/hotspot_layout.h"
#include "jit/jit_code.h"
#include "reader/memory_words.h"

namespace offcpud {

// The name of a compiled Java method as it is shown: "java.util.concurrent.Semaphore.acquire".
// Leaves out the address in the name of a hidden class, which changes from run to run.
std::string java_method_name(std::string_view class_name, std::string_view method);

// Reads the methods that HotSpot has compiled in a process. Neither stops nor changes the process,
// so its code may change meanwhile: what is inconsistent is left out, and a method may get the name
// of an earlier one at its address. Used by one thread.
class HotspotCode {
 public:
  static constexpr std::size_t kMostFunctions = 32'768;
  static constexpr std::size_t kMostNameBytes = std::size_t{4} << 20;
  // The most names that one read() reads; the next read() goes on. A thousand take a few
  // milliseconds.
  static constexpr std::size_t kMostNewNames = 4'096;

  explicit HotspotCode(const HotspotLayout& layout) : layout_(layout) {}

  // Nothing: it could not be read.
  [[nodiscard]] std::optional<JitCode> read(const MemoryWords& memory);

 private:
  struct Heap {
    std::uint64_t low = 0, high = 0;  // of its memory
    std::uint64_t segments = 0;       // address of the table with a byte for each segment
    std::uint32_t segment_shift = 0;  // a segment has 1 << segment_shift bytes
  };
  struct Blob {
    std::uint64_t begin = 0, end = 0, method = 0, kind = 0;
    std::uint32_t frame_size = 0;
  };
  struct Known {
    std::uint64_t method = 0;
    std::string name;
  };

  [[nodiscard]] std::vector<Heap> heaps(const MemoryWords& memory) const;
  void add_blobs(const MemoryWords& memory, const Heap& heap, std::vector<Blob>& blobs) const;
  static void sort_out(const MemoryWords& memory, std::vector<Blob>& blobs);
  void name_new(const MemoryWords& memory, const std::vector<Blob>& blobs);
  [[nodiscard]] std::vector<std::string> symbols(const MemoryWords& memory,
                                                 std::vector<std::uint64_t> addresses) const;

  HotspotLayout layout_;
  std::unordered_map<std::uint64_t, Known> known_;  // by the first address of the code
};

}  // namespace offcpud
