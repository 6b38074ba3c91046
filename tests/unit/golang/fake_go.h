// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "elf/go_function_table.h"
#include "golang/go_file.h"
#include "golang/go_functions.h"
#include "golang/go_runtime.h"
#include "unit/jit/fake_hotspot.h"

namespace offcpud::testing_go {

// The memory of a process that runs a Go program: the runtime's code and variables, and goroutines
// with stacks.
class FakeGo : public testing_jit::FakeMemory {
 public:
  static constexpr std::uint64_t kCode = 0x401000;  // as linked
  static constexpr std::uint64_t kBias = 0x550000000000;
  static constexpr std::uint32_t kTgid = 7;
  // Where functions begin, since kCode.
  static constexpr std::uint64_t kAdds = 0x100, kChanges = 0x200, kExit = 0x300, kPark = 0x400,
                                 kWorker = 0x500, kServe = 0x600, kMain = 0x700, kSweep = 0x800,
                                 kEnd = 0x900;

  struct Build {
    std::uint32_t minor = 19;
    std::string version{};       // empty: that of the minor version
    bool has_counter = true;     // the code counts
    bool is_among_data = false;  // the file has no section for the table
    bool is_relocated = false;   // the table says only in memory where its code is
    std::uint32_t status = 0;    // its offset in the code; 0: that of the version
    std::vector<std::string> reasons{"", "GC assist marking", "IO wait", "chan receive", "sleep"};
  };
  static constexpr std::uint8_t kIoWait = 2, kReceive = 3, kSleep = 4;
  FakeGo() : FakeGo(Build{}) {}
  explicit FakeGo(const Build& build);

  struct Goroutine {
    std::uint64_t id = 1;
    std::uint32_t status = 4;
    std::uint8_t reason = kReceive, counter = 0;
    std::uint64_t since_ns = 0;
    std::vector<std::uint64_t> functions{kPark, kWorker};  // innermost first, without the root
    std::uint64_t free = 0;  // bytes of the stack below the stack pointer
    bool has_root = true;
  };
  // Returns its address.
  std::uint64_t add(const Goroutine& goroutine);
  [[nodiscard]] std::size_t count() const { return goroutines_.size(); }
  // So many bytes are from the stack pointer to the return address.
  static constexpr std::uint64_t kDepth = 24;

  [[nodiscard]] const GoLayout& layout() const { return layout_; }
  [[nodiscard]] std::uint32_t counter() const { return counter_; }
  [[nodiscard]] const GoFile& file() const { return file_; }
  [[nodiscard]] GoFunctionTable table() const {
    return *GoFunctionTable::open(file_.table.bytes, {});
  }
  // The program's file. Its code is mapped at kCode + kBias, from kCodeOffset on.
  static constexpr std::uint64_t kCodeOffset = 0x1000;
  [[nodiscard]] std::string image() const;
  [[nodiscard]] std::uint64_t all() const;   // runtime.allgs
  [[nodiscard]] std::uint64_t list() const;  // its elements
  [[nodiscard]] std::uint64_t stack_of(std::uint64_t goroutine);
  [[nodiscard]] FoundGo find() { return find_go(MemoryWords(*this, kTgid), file_, table(), kBias); }

  // Called for each part that is read, before.
  std::function<void(const MemoryPiece&)> before;
  void read(std::span<MemoryPiece> pieces) override;

 private:
  void put_code(const Build& build);
  void put_variables(const Build& build);

  GoLayout layout_;
  std::uint32_t counter_;
  bool is_among_data_;
  GoFile file_;
  std::vector<std::uint64_t> goroutines_;
};

}  // namespace offcpud::testing_go
