// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "base/unique_handle.h"

namespace offcpud {

// Memory shared by one reader and the thread that sends it requests. Never reused, because a reader
// that was given up may still write to it.
struct ReaderPage {
  static constexpr std::size_t kDataBytes = std::size_t{1} << 20;
  static constexpr std::size_t kMostPieces = 128;
  static constexpr std::size_t kMostMounts = 16;

  // The reader writes these. `progress` rises whenever it gets on.
  std::atomic<std::uint32_t> progress{0};
  std::atomic<std::uint32_t> piece{0};    // being read now
  std::atomic<std::uint32_t> slowest{0};  // the piece that took longest so far
  std::atomic<std::uint64_t> mount{0};    // the mount it accesses now; 0: none
  std::atomic<std::uint64_t> cpu_ns{0};   // CPU time it has used
  // Time for which the last request waited for anything but a CPU; a busy host is not the fault of
  // any process.
  std::atomic<std::uint64_t> blocked_ns{0};
  std::array<std::atomic<std::uint32_t>, kMostPieces> got{};  // bytes of each piece

  // The client writes these: mounts that must not be accessed; 0: unused.
  std::array<std::atomic<std::uint64_t>, kMostMounts> shunned{};

  alignas(64) std::array<std::byte, kDataBytes> data;  // the pieces, back to back
};

class SharedReaderPage {
 public:
  SharedReaderPage() = default;
  static Result<SharedReaderPage> create();
  static Result<SharedReaderPage> open(UniqueFd memory);
  SharedReaderPage(SharedReaderPage&& other) noexcept;
  SharedReaderPage& operator=(SharedReaderPage&& other) noexcept;
  SharedReaderPage(const SharedReaderPage&) = delete;
  SharedReaderPage& operator=(const SharedReaderPage&) = delete;
  ~SharedReaderPage();

  [[nodiscard]] int fd() const { return memory_.get(); }
  ReaderPage* operator->() const { return page_; }
  ReaderPage& operator*() const { return *page_; }

 private:
  UniqueFd memory_;
  ReaderPage* page_ = nullptr;
};

}  // namespace offcpud
