// SPDX-License-Identifier: Apache-2.0
#include "python/python_frames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "unit/python/fake_python.h"

namespace offcpud {
namespace {

using testing_python::FakePython;
using testing_python::kHost;
using End = PythonFrames::End;

constexpr std::uint64_t kOuterHost = kHost + 0x1000;

PythonRuntime runtime_of(const FakePython& python) {
  return {.layout = &python.layout(),
          .thread_key = FakePython::kKey,
          .code_type = python.code_type(),
          .eval_begin = python.eval(),
          .eval_end = python.eval() + 0x100};
}

struct Walked {
  std::vector<PythonCodeFrame> frames;
  End end = End::Root;
  std::size_t reads = 0;
};

Walked walk(FakePython& python, std::uint64_t thread) {
  const PythonRuntime runtime = runtime_of(python);
  PythonFrames frames(runtime, thread);
  Walked walked;
  while (!frames.done()) {
    std::vector<std::byte> bytes(frames.size());
    MemoryPiece piece{.tgid = 1, .tid = 1, .address = frames.address(), .to = bytes};
    python.read({&piece, 1});
    frames.take(std::span(bytes).first(piece.got));
    ++walked.reads;
  }
  walked.frames = frames.frames();
  walked.end = frames.end();
  return walked;
}

std::vector<FakePython::Call> calls_of(std::size_t count) {
  std::vector<FakePython::Call> calls;
  for (std::size_t i = 0; i < count; ++i) calls.push_back({.code = 0x1000 + 16 * i});
  return calls;
}

class EachVersion : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(PythonFrames, EachVersion, testing::Range(8U, 15U));

TEST_P(EachVersion, FramesComeFromTheInnermostOne) {
  FakePython python(GetParam());
  auto calls = calls_of(5);
  calls[1].host = kHost;
  calls[4].host = kOuterHost;
  const Walked walked = walk(python, python.add_thread(calls));
  EXPECT_EQ(walked.end, End::Root);
  ASSERT_EQ(walked.frames.size(), 5);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(walked.frames[i].code, calls[i].code);
    const std::uint64_t host = i < 2 ? kHost : kOuterHost;
    EXPECT_EQ(walked.frames[i].host, python.layout().is_one_each() ? 0 : host) << i;
  }
}

TEST_P(EachVersion, AThreadMayHaveNoFrames) {
  FakePython python(GetParam());
  const Walked walked = walk(python, python.add_thread({}));
  EXPECT_EQ(walked.end, End::Root);
  EXPECT_TRUE(walked.frames.empty());
}

TEST_P(EachVersion, AThreadWithoutAStateRunsNoPython) {
  FakePython python(GetParam());
  const std::uint64_t thread = python.add_thread(calls_of(2));
  python.set<std::uint64_t>(thread + 0x310 + 16 * FakePython::kKey + 8, 0);
  EXPECT_EQ(walk(python, thread).end, End::NoState);
  EXPECT_EQ(walk(python, 0).end, End::NoState);
  EXPECT_EQ(walk(python, 0x123000).end, End::NoState);
}

TEST_P(EachVersion, TheStateOfAnotherThreadIsNone) {
  FakePython python(GetParam());
  const std::uint64_t thread = python.add_thread(calls_of(2));
  python.set<std::uint64_t>(python.state() + python.layout().thread_id, thread + 8);
  const Walked walked = walk(python, thread);
  EXPECT_EQ(walked.end, End::Mismatch);
  EXPECT_TRUE(walked.frames.empty());
}

TEST_P(EachVersion, ACircleEnds) {
  FakePython python(GetParam());
  auto calls = calls_of(3);
  calls[2].host = kHost;
  const std::uint64_t thread = python.add_thread(calls);
  python.set<std::uint64_t>(python.frame(2) + python.layout().previous, python.frame(0));
  const Walked walked = walk(python, thread);
  EXPECT_NE(walked.end, End::Root);
  EXPECT_LE(walked.frames.size(), PythonFrames::kMost);
  EXPECT_LE(walked.reads, PythonFrames::kMostSteps);
}

TEST_P(EachVersion, TheInnermostOfManyFramesAreKeptWithTheirHost) {
  FakePython python(GetParam());
  auto calls = calls_of(500);
  calls.back().host = kHost;
  const Walked walked = walk(python, python.add_thread(calls));
  ASSERT_EQ(walked.frames.size(), PythonFrames::kMost);
  EXPECT_EQ(walked.end, End::Depth);
  EXPECT_EQ(walked.frames.back().code, calls[PythonFrames::kMost - 1].code);
  // In 3.11 only the outermost frame has an entry, and with it the host of all.
  if (python.layout().has_shims()) {
    EXPECT_EQ(walked.frames.back().host, kHost);
  }
}

TEST_P(EachVersion, MemoryThatCannotBeReadIsAMismatch) {
  FakePython python(GetParam());
  auto calls = calls_of(3);
  calls[2].host = kHost;
  const std::uint64_t thread = python.add_thread(calls);
  python.set<std::uint64_t>(python.frame(1) + python.layout().previous, 0x666000);
  EXPECT_EQ(walk(python, thread).end, End::Mismatch);
}

TEST(PythonFrames, CallsSideBySideTakeFewReads) {
  FakePython python(12);
  auto calls = calls_of(30);
  calls.back().host = kHost;
  EXPECT_LE(walk(python, python.add_thread(calls)).reads, 8);
}

TEST(PythonFrames, InstructionsAreAsTheFrameHasThem) {
  FakePython old(10);
  const Walked indexes = walk(old, old.add_thread({{.code = 0x1000, .offset = 24}}));
  ASSERT_EQ(indexes.frames.size(), 1);
  EXPECT_EQ(indexes.frames[0].instruction, 12);
  FakePython python(13);
  const Walked addresses = walk(python, python.add_thread({{.code = 0x1000, .offset = 24}}));
  ASSERT_EQ(addresses.frames.size(), 1);
  EXPECT_EQ(addresses.frames[0].instruction, 0x1000 + python.layout().instructions + 24);
}

TEST(PythonFrames, TagsOfReferencesAreLeftOut) {
  FakePython python(14);
  const Walked walked = walk(python, python.add_thread({{.code = 0x1001, .host = kHost}}));
  ASSERT_EQ(walked.frames.size(), 1);
  EXPECT_EQ(walked.frames[0].code, 0x1000);
}

}  // namespace
}  // namespace offcpud
