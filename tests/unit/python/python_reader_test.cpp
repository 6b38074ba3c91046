// SPDX-License-Identifier: Apache-2.0
#include "python/python_reader.h"

#include <gtest/gtest.h>

#include <random>

#include "unit/python/fake_python.h"
#include "unit/python/python_line_samples.h"

namespace offcpud {
namespace {

using testing_python::FakePython;
using testing_python::kHost;
using testing_python::kProcess;
using testing_python::LineSample;
using End = PythonFrames::End;

class PythonReader {
 public:
  explicit PythonReader(FakePython& python)
      : python_(python),
        runtime_(*find_python(MemoryWords(python, kProcess), FakePython::kBase, python.file_name())
                      .runtime) {}

  std::vector<PythonCalls> read(const std::vector<std::uint64_t>& pointers) {
    std::vector<PythonThread> threads;
    for (const std::uint64_t pointer : pointers) {
      threads.push_back(
          {.tgid = kProcess, .tid = kProcess, .thread_pointer = pointer, .runtime = &runtime_});
    }
    return read_python_calls(python_, threads);
  }

 private:
  FakePython& python_;
  PythonRuntime runtime_;
};

TEST(ReadPythonCalls, FramesHaveNamesAndLinesInEachVersion) {
  for (const LineSample& sample : testing_python::line_samples()) {
    FakePython python(sample.minor);
    const std::uint64_t inner = python.add_code(
        {.name = "Shop.pay", .first_line = sample.first_line, .lines = std::string(sample.table)});
    const std::uint64_t outer = python.add_code({.name = "<module>", .file = "app.py"});
    const std::uint64_t thread =
        python.add_thread({{.code = inner, .offset = 0}, {.code = outer, .host = kHost}});
    const auto calls = PythonReader(python).read({thread});
    ASSERT_EQ(calls.size(), 1);
    ASSERT_EQ(calls[0].frames.size(), 2) << "3." << sample.minor;
    EXPECT_EQ(calls[0].frames[0].function, "Shop.pay (shop/till.py)");
    EXPECT_EQ(calls[0].frames[0].line, sample.lines[0].second);
    EXPECT_EQ(calls[0].frames[1].function, "<module> (app.py)");
  }
}

TEST(ReadPythonCalls, NamesOfOtherCharacters) {
  FakePython python(11);
  const std::uint64_t code = python.add_code({.wide = u"na\u00efve_\u4e2d"});
  const auto calls =
      PythonReader(python).read({python.add_thread({{.code = code, .host = kHost}})});
  ASSERT_EQ(calls[0].frames.size(), 1);
  EXPECT_EQ(calls[0].frames[0].function, "na\u00efve_\u4e2d (shop/till.py)");
}

TEST(ReadPythonCalls, OfLongTextsTheTellingEndIsKept) {
  FakePython python(12);
  const std::uint64_t code = python.add_code(
      {.name = std::string(5'000, 'f'), .file = "/" + std::string(5'000, 'd') + "/shop/till.py"});
  const auto calls =
      PythonReader(python).read({python.add_thread({{.code = code, .host = kHost}})});
  ASSERT_EQ(calls[0].frames.size(), 1);
  EXPECT_EQ(calls[0].frames[0].function,
            std::string(PythonCodes::kMostCharacters, 'f') + " (shop/till.py)");
}

TEST(ReadPythonCalls, LongTablesAreRead) {
  FakePython python(11);
  std::string lines;
  for (int i = 0; i < 2'000; ++i) lines += "\xe8\x02";  // one instruction, one line further
  const std::uint64_t code = python.add_code({.first_line = 1, .lines = lines});
  const auto calls = PythonReader(python).read(
      {python.add_thread({{.code = code, .offset = 1'500, .host = kHost}})});
  ASSERT_EQ(calls[0].frames.size(), 1);
  EXPECT_EQ(calls[0].frames[0].line, 752);
}

TEST(ReadPythonCalls, AnInstructionOutsideOfTheCodeHasNoLine) {
  FakePython python(13);
  const std::uint64_t code = python.add_code({.lines = "\xe8\x02\xe8\x02"});
  for (const std::int64_t offset : {-100, 100'000}) {
    const auto calls = PythonReader(python).read(
        {python.add_thread({{.code = code, .offset = offset, .host = kHost}})});
    ASSERT_EQ(calls[0].frames.size(), 1);
    EXPECT_EQ(calls[0].frames[0].line, 0);
  }
}

TEST(ReadPythonCalls, WhatIsNoCodeIsAMismatchOfItsThreadOnly) {
  FakePython python(13);
  const std::uint64_t code = python.add_code({});
  const std::uint64_t other = python.add_code({});
  python.set<std::uint64_t>(other + 8, 0x1234);  // its type
  const std::uint64_t right = python.add_thread({{.code = code, .host = kHost}});
  const std::uint64_t wrong =
      python.add_thread({{.code = code}, {.code = other, .host = kHost + 512}});
  const std::uint64_t gone = python.add_thread({{.code = 0x77000, .host = kHost + 1024}});
  const auto calls = PythonReader(python).read({right, wrong, gone});
  ASSERT_EQ(calls.size(), 3);
  EXPECT_EQ(calls[0].frames.size(), 1);
  EXPECT_EQ(calls[1].frames.size(), 0);
  EXPECT_EQ(calls[1].end, End::Mismatch);
  EXPECT_EQ(calls[2].end, End::Mismatch);
}

// A table of another version finds other things at its offsets.
TEST(ReadPythonCalls, OffsetsOfAnotherVersionGiveNoFrames) {
  for (std::uint32_t minor = 8; minor <= 14; ++minor) {
    FakePython python(minor);
    const std::uint64_t code = python.add_code({});
    const std::uint64_t thread = python.add_thread({{.code = code}, {.code = code, .host = kHost}});
    for (std::uint32_t other = 8; other <= 14; ++other) {
      const PythonLayout& layout = *find_python_layout(other);
      if (layout.thread_id == python.layout().thread_id && layout.frame == python.layout().frame &&
          layout.code == python.layout().code) {
        continue;
      }
      const PythonRuntime runtime{
          .layout = &layout, .thread_key = FakePython::kKey, .code_type = python.code_type()};
      const PythonThread asked{
          .tgid = kProcess, .tid = kProcess, .thread_pointer = thread, .runtime = &runtime};
      EXPECT_TRUE(read_python_calls(python, {&asked, 1})[0].frames.empty())
          << "3." << minor << " as 3." << other;
    }
  }
}

TEST(ReadPythonCalls, ManyThreadsTakeAsManyRequestsAsOne) {
  class Counting final : public ProcessMemory {
   public:
    explicit Counting(ProcessMemory& memory) : memory_(memory) {}
    void read(std::span<MemoryPiece> pieces) override {
      ++requests;
      memory_.read(pieces);
    }
    int requests = 0;

   private:
    ProcessMemory& memory_;
  };
  FakePython python(12);
  const std::uint64_t code = python.add_code({});
  const auto found =
      find_python(MemoryWords(python, kProcess), FakePython::kBase, python.file_name());
  std::vector<PythonThread> threads;
  for (std::uint64_t i = 0; i < 90; ++i) {
    std::vector<FakePython::Call> calls(10, {.code = code});
    calls.back().host = FakePython::kStack + 0x80 * i + 0x10;
    threads.push_back({.tgid = kProcess,
                       .tid = kProcess,
                       .thread_pointer = python.add_thread(calls),
                       .runtime = &*found.runtime});
  }
  Counting counting(python);
  const auto calls = read_python_calls(counting, threads);
  ASSERT_EQ(calls.size(), 90);
  for (const PythonCalls& each : calls) EXPECT_EQ(each.frames.size(), 10);
  EXPECT_LE(counting.requests, 10);
}

TEST(ReadPythonCalls, FunctionsBeyondTheLimitHaveNoName) {
  FakePython python(13);
  std::vector<std::uint64_t> threads;
  for (std::size_t i = 0; i < PythonCodes::kMostFunctions / 100 + 2; ++i) {
    std::vector<FakePython::Call> calls;
    for (int k = 0; k < 100; ++k) calls.push_back({.code = python.add_code({})});
    calls.back().host = FakePython::kStack + 0x80 * i + 0x10;
    threads.push_back(python.add_thread(calls));
  }
  const auto calls = PythonReader(python).read(threads);
  std::size_t unnamed = 0;
  for (const PythonCalls& each : calls) {
    EXPECT_EQ(each.frames.size(), 100);
    for (const PythonFrame& frame : each.frames) unnamed += frame.function == PythonCodes::kLeftOut;
  }
  EXPECT_EQ(unnamed, 100 * threads.size() - PythonCodes::kMostFunctions);
}

TEST(ReadPythonCalls, AnythingInMemoryIsBounded) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 5'000; ++i) {
    FakePython python(8 + i % 7);
    const std::uint64_t code = python.add_code({.lines = "\x02\x01\x02\x01"});
    const std::uint64_t thread =
        python.add_thread({{.code = code}, {.code = code}, {.code = code, .host = kHost}});
    PythonReader reader(python);
    const std::uint64_t places[] = {code, python.frame(0), python.frame(2), python.state()};
    for (int k = 0; k < 4; ++k) {
      const std::uint64_t word = k % 2 == 0 ? random() : places[random() % 4];
      python.set(places[random() % 4] + random() % 15 * 8, word);
    }
    python.reads = 0;
    const auto calls = reader.read({thread});
    ASSERT_LE(calls[0].frames.size(), PythonFrames::kMost);
    ASSERT_LE(python.reads, PythonFrames::kMostSteps + 3 * PythonFrames::kMost);
  }
}

}  // namespace
}  // namespace offcpud
