// SPDX-License-Identifier: Apache-2.0
#include "reader/reader_page.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <utility>

#include "base/memory_file.h"

namespace offcpud {
namespace {

Result<void*> map(int memory) {
  void* const at =
      ::mmap(nullptr, sizeof(ReaderPage), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  if (at == MAP_FAILED) return Error::from_errno(errno, "map the memory shared with a reader");
  return at;
}

}  // namespace

Result<SharedReaderPage> SharedReaderPage::create() {
  SharedReaderPage shared;
  TRY(shared.memory_, memory_file("offcpud-reader"));
  if (::ftruncate(shared.memory_.get(), sizeof(ReaderPage)) != 0) {
    return Error::from_errno(errno, "make the memory shared with a reader");
  }
  TRY(void* const at, map(shared.memory_.get()));
  // ftruncate() zeroes the memory, which equals the members' initial values, and leaves most of
  // `data` unallocated until it is needed.
  shared.page_ = std::launder(static_cast<ReaderPage*>(at));
  return shared;
}

Result<SharedReaderPage> SharedReaderPage::open(UniqueFd memory) {
  SharedReaderPage shared;
  TRY(void* const at, map(memory.get()));
  shared.page_ = std::launder(static_cast<ReaderPage*>(at));
  shared.memory_ = std::move(memory);
  return shared;
}

SharedReaderPage::SharedReaderPage(SharedReaderPage&& other) noexcept
    : memory_(std::move(other.memory_)), page_(std::exchange(other.page_, nullptr)) {}

SharedReaderPage& SharedReaderPage::operator=(SharedReaderPage&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(page_, other.page_);
  return *this;
}

SharedReaderPage::~SharedReaderPage() {
  if (page_ != nullptr) (void)::munmap(page_, sizeof(ReaderPage));
}

}  // namespace offcpud
