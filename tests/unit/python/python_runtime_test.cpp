// SPDX-License-Identifier: Apache-2.0
#include "python/python_runtime.h"

#include <gtest/gtest.h>

#include <random>

#include "python/dynamic_symbols.h"
#include "unit/python/fake_python.h"

namespace offcpud {
namespace {

using testing_python::FakePython;
using testing_python::kProcess;

FoundPython found_in(FakePython& python, const std::string& name) {
  return find_python(MemoryWords(python, kProcess), FakePython::kBase, name);
}

TEST(PythonRuntime, EachVersionIsFound) {
  for (std::uint32_t minor = 8; minor <= 14; ++minor) {
    FakePython python(minor);
    const FoundPython found = found_in(python, python.file_name());
    ASSERT_TRUE(found.runtime) << "3." << minor << ": " << found.why;
    EXPECT_EQ(found.runtime->layout->minor, minor);
    EXPECT_EQ(found.runtime->thread_key, FakePython::kKey);
    EXPECT_EQ(found.runtime->code_type, python.code_type());
    EXPECT_EQ(found.runtime->eval_begin, python.eval());
    EXPECT_EQ(found.runtime->eval_end, python.eval() + 0x100);
    EXPECT_LE(python.reads, 40) << "3." << minor;
  }
}

TEST(PythonRuntime, ItsOwnAccountOfItsVersionCounts) {
  FakePython python(12);
  EXPECT_EQ(found_in(python, "python3.8").runtime->layout->minor, 12);
  FakePython old(9);
  const FoundPython unnamed = found_in(old, "python");  // before 3.11, only the file's name says it
  EXPECT_FALSE(unnamed.runtime);
  EXPECT_EQ(unnamed.refusal, PythonRefusal::Version);
  FakePython without(9);
  EXPECT_FALSE(found_in(without, "libpython3.12.so.1.0").runtime);
}

TEST(PythonRuntime, AnUnknownVersionIsRefused) {
  for (const std::uint32_t minor : {7U, 15U}) {
    FakePython python(minor == 7 ? 8 : minor);
    const FoundPython found = found_in(python, "libpython3." + std::to_string(minor) + ".so.1.0");
    EXPECT_FALSE(found.runtime);
    EXPECT_EQ(found.refusal, PythonRefusal::Version);
    EXPECT_EQ(found.why, "its version, 3." + std::to_string(minor) + ", is not known");
  }
}

TEST(PythonRuntime, APreReleaseIsRefusedAndACandidateIsNot) {
  FakePython beta(13, 0x030d00b1);
  EXPECT_EQ(found_in(beta, beta.file_name()).why, "its version, 3.13, is not a release");
  FakePython candidate(12, 0x030c00c2);
  EXPECT_TRUE(found_in(candidate, candidate.file_name()).runtime);
}

TEST(PythonRuntime, OtherBuildsAreRefused) {
  FakePython debug(11);
  EXPECT_EQ(found_in(debug, "libpython3.11d.so.1.0").refusal, PythonRefusal::Build);
  FakePython named(13);
  EXPECT_EQ(found_in(named, "python3.13t").refusal, PythonRefusal::Build);
  FakePython free_threaded(14);
  free_threaded.set<std::uint64_t>(free_threaded.runtime() + 16, 1);
  const FoundPython found = found_in(free_threaded, free_threaded.file_name());
  EXPECT_EQ(found.refusal, PythonRefusal::Build);
  EXPECT_EQ(found.why, "it is built without the GIL");
}

TEST(PythonRuntime, OffsetsThatDifferFromItsOwnAreRefused) {
  for (const std::uint32_t minor : {13U, 14U}) {
    for (std::uint64_t word = 0; word < 64; ++word) {
      FakePython python(minor);
      const std::uint64_t at = python.runtime() + 8 * word;
      const auto before = MemoryWords(python, kProcess).read<std::uint64_t>(at).value_or(0);
      if (before == 0) continue;
      python.set<std::uint64_t>(at, before + 8);
      // A part of the version is of the patch release, and offsets of 0 are compared as well.
      if (word == 1) python.set<std::uint64_t>(at, before + (1U << 16U));
      EXPECT_FALSE(found_in(python, python.file_name()).runtime) << minor << " word " << word;
    }
  }
}

TEST(PythonRuntime, ATooHighKeyIsRefused) {
  FakePython python(11);
  python.set<std::uint32_t>(python.runtime() + python.layout().thread_key, kThreadKeys);
  EXPECT_EQ(found_in(python, python.file_name()).refusal, PythonRefusal::Memory);
}

TEST(PythonRuntime, WhatIsNoPythonIsRefused) {
  FakePython python(11);
  python.set<std::uint32_t>(FakePython::kBase, 0);
  EXPECT_EQ(found_in(python, python.file_name()).refusal, PythonRefusal::Memory);
  testing_jit::FakeMemory nothing;
  EXPECT_FALSE(find_python(MemoryWords(nothing, 1), FakePython::kBase, "python3.11").runtime);
}

TEST(PythonRuntime, AnythingInTheLibraryCostsFewReads) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    FakePython python(8 + i % 7);
    for (int k = 0; k < 6; ++k) python.set(FakePython::kBase + random() % 0x7f8, random());
    (void)found_in(python, python.file_name());
    ASSERT_LE(python.reads, 60);
  }
}

TEST(PythonRuntime, FileNamesThatMayBePython) {
  for (const char* const name : {"python3.11", "python", "libpython3.8.so.1.0", "python3.13t"}) {
    EXPECT_TRUE(may_be_python(name)) << name;
  }
  for (const char* const name :
       {"_queue.cpython-311-x86_64-linux-gnu.so", "ipython", "libc.so.6", ""}) {
    EXPECT_FALSE(may_be_python(name)) << name;
  }
}

TEST(DynamicSymbols, OnlyExportedOnesAreFound) {
  FakePython python(12);
  const MemoryWords memory(python, kProcess);
  const auto symbols = DynamicSymbols::read(memory, FakePython::kBase);
  ASSERT_TRUE(symbols);
  ASSERT_TRUE(symbols->find("_PyRuntime"));
  EXPECT_EQ(symbols->find("_PyRuntime")->address, python.runtime());
  EXPECT_EQ(symbols->find("_PyRuntime")->size, 0x1000);
  EXPECT_FALSE(symbols->find("_PyRuntim"));
  EXPECT_FALSE(symbols->find("_PyRuntime2"));
  EXPECT_FALSE(DynamicSymbols::read(memory, FakePython::kBase + 8));
}

}  // namespace
}  // namespace offcpud
