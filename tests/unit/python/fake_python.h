// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "python/python_layout.h"
#include "python/python_runtime.h"
#include "unit/jit/fake_hotspot.h"

namespace offcpud::testing_python {

// The number of its process.
inline constexpr std::uint32_t kProcess = 40;

// The memory of a process with a CPython: a library that exports what it does, threads, their
// frames and code.
class FakePython : public testing_jit::FakeMemory {
 public:
  static constexpr std::uint64_t kBase = 0x7f1100000000;
  // The native stack of its threads: frames of C functions, in which hosts lie.
  static constexpr std::uint64_t kStack = 0x7ffe00000000, kStackSize = 0x4000;
  static constexpr std::uint32_t kKey = 5;

  // `hex`: PY_VERSION_HEX; 0: that of a release.
  explicit FakePython(std::uint32_t minor, std::uint32_t hex = 0);

  [[nodiscard]] const PythonLayout& layout() const { return layout_; }
  [[nodiscard]] std::string file_name() const {
    return "libpython3." + std::to_string(minor_) + ".so.1.0";
  }
  [[nodiscard]] std::uint64_t runtime() const { return kBase + 0x1000; }
  [[nodiscard]] std::uint64_t code_type() const { return kBase + 0x800; }
  [[nodiscard]] std::uint64_t eval() const { return kBase + 0x900; }

  struct Function {
    std::string name = "pay", file = "/srv/shop/till.py";
    std::uint32_t first_line = 10;
    std::string lines{};    // as co_lnotab or co_linetable
    std::u16string wide{};  // the name, if it is not ASCII
  };
  std::uint64_t add_code(const Function& function);

  struct Call {
    std::uint64_t code = 0;
    std::int64_t offset = 0;  // of the instruction, in bytes
    // It is the outermost that its C function runs, which has a local variable there; 0: it is not.
    std::uint64_t host = 0;
  };
  // Innermost first. Returns the thread pointer.
  std::uint64_t add_thread(const std::vector<Call>& calls);
  // Where the frame of a call of the last thread is.
  [[nodiscard]] std::uint64_t frame(std::size_t call) const { return frames_.at(call); }
  [[nodiscard]] std::uint64_t state() const { return state_; }  // of the last thread
  // The kernel's number of the last thread, whose thread pointer this is.
  void number_thread(std::uint64_t thread_pointer, std::uint32_t tid);

  // The main interpreter's GIL. Returns its address.
  std::uint64_t add_gil();
  struct Gil {
    std::uint64_t holder = 0;  // a thread state
    std::uint64_t switches = 0;
    bool is_held = true;
  };
  void set_gil(const Gil& gil);

 private:
  void put_library(std::uint32_t hex);
  void put_debug_offsets();
  std::uint64_t put_string(std::string_view text);
  std::uint64_t put_string(const std::u16string& text);
  std::uint64_t put_bytes(std::string_view bytes);

  std::uint32_t minor_;
  PythonLayout layout_;  // of 3.14 for later ones
  std::vector<std::uint64_t> frames_;
  std::uint64_t state_ = 0, gil_ = 0;
};

// Where a C function that runs Python has a local variable.
inline constexpr std::uint64_t kHost = FakePython::kStack + 0x800;

}  // namespace offcpud::testing_python
