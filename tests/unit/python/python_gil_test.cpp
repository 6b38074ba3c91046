// SPDX-License-Identifier: Apache-2.0
#include "python/python_gil.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "unit/python/fake_python.h"

namespace offcpud {
namespace {

using testing_python::FakePython;
using testing_python::kProcess;

constexpr std::uint32_t kThread = 4711;

// A Python whose last thread holds the GIL.
class HeldGil {
 public:
  explicit HeldGil(std::uint32_t minor) : python(minor) {
    python.number_thread(python.add_thread({}), kThread);
    gil = python.add_gil();
    python.set_gil({.holder = python.state(), .switches = 7});
    runtime = *find_python(memory(), FakePython::kBase, python.file_name()).runtime;
  }
  MemoryWords memory() { return {python, kProcess}; }
  std::optional<PythonGil> read() { return read_python_gil(memory(), runtime, gil); }

  FakePython python;
  std::uint64_t gil = 0;
  PythonRuntime runtime;
};

TEST(PythonGil, EachVersionSaysWhoHoldsIt) {
  for (std::uint32_t minor = 8; minor <= 14; ++minor) {
    HeldGil held(minor);
    EXPECT_EQ(find_python_gil(held.memory(), held.runtime), held.gil) << "3." << minor;
    EXPECT_EQ(
        held.read(),
        (PythonGil{.is_held = true, .holder = held.python.state(), .switches = 7, .tid = kThread}))
        << "3." << minor;
    held.python.set_gil({.holder = held.python.state(), .switches = 7, .is_held = false});
    ASSERT_TRUE(held.read());
    EXPECT_FALSE(held.read()->is_held) << "who had it last";
  }
}

TEST(PythonGil, WhoWaitsForItsConditionWaitsForIt) {
  constexpr std::uint64_t kGil = 0x1000;
  EXPECT_FALSE(is_python_gil(kGil, kGil + 28));
  EXPECT_TRUE(is_python_gil(kGil, kGil + 32));
  EXPECT_TRUE(is_python_gil(kGil, kGil + 79));
  EXPECT_FALSE(is_python_gil(kGil, kGil + 80)) << "the mutex that protects it";
  EXPECT_FALSE(is_python_gil(kGil, 0x10));
  EXPECT_FALSE(is_python_gil(0, 40)) << "it was not found";
}

TEST(PythonGil, MemoryOfOthersIsNoHolder) {
  for (std::uint32_t minor = 8; minor <= 14; ++minor) {
    HeldGil held(minor);
    held.python.set_gil({.holder = 0x10, .switches = 7});  // nothing is mapped there
    ASSERT_TRUE(held.read());
    EXPECT_EQ(held.read()->tid, 0U) << "3." << minor;
    held.python.set_gil({.holder = 0, .switches = 7});
    EXPECT_EQ(held.read()->tid, 0U) << "3." << minor;
    held.python.set_gil({.holder = held.python.state(), .switches = 7});
    if (held.runtime.layout->has_native_id()) {
      held.python.set(held.python.state() + held.runtime.layout->native_id(), ~std::uint64_t{0});
      EXPECT_EQ(held.read()->tid, 0U) << "3." << minor;
    }
    held.gil = 0x10;
    EXPECT_FALSE(held.read());
  }
  HeldGil without(12);
  without.python.set<std::uint64_t>(
      without.python.runtime() + without.runtime.layout->interpreters + 8, 0);
  EXPECT_FALSE(find_python_gil(without.memory(), without.runtime));
}

// Memory that changes while it is read.
class ChangingMemory final : public ProcessMemory {
 public:
  ChangingMemory(FakePython& python, std::function<void()> change)
      : python_(python), change_(std::move(change)) {}
  void read(std::span<MemoryPiece> pieces) override {
    if (++requests_ == 2) change_();
    python_.read(pieces);
  }

 private:
  FakePython& python_;
  std::function<void()> change_;
  int requests_ = 0;
};

TEST(PythonGil, WhoHasGivenItAwayMeanwhileIsNoHolder) {
  for (const std::uint32_t minor : {9U, 12U}) {
    HeldGil held(minor);
    ChangingMemory memory(
        held.python, [&] { held.python.set_gil({.holder = held.python.state(), .switches = 9}); });
    const auto state = read_python_gil(MemoryWords(memory, kProcess), held.runtime, held.gil);
    ASSERT_TRUE(state);
    EXPECT_EQ(state->switches, 9U);
    EXPECT_EQ(state->tid, 0U);
  }
}

}  // namespace
}  // namespace offcpud
