// SPDX-License-Identifier: Apache-2.0
#include "sampler/python_placing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace offcpud {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t kEval = 0x5000, kElsewhere = 0x9000;

PythonRuntime runtime_of(std::uint32_t minor) {
  return {.layout = find_python_layout(minor), .eval_begin = kEval, .eval_end = kEval + 0x100};
}

// A stack of frames of 0x100 bytes each, from 0x10000 on.
RemoteStack walked_stack(const std::vector<std::uint64_t>& addresses,
                         offcpud_unwind_end end = OFFCPUD_UNWIND_END_ROOT) {
  RemoteStack stack{.addresses = addresses, .end = end};
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    stack.stack_pointers.push_back(0x10000 + 0x100 * i);
  }
  return stack;
}

PythonCalls calls_of(const std::vector<std::uint64_t>& hosts,
                     PythonFrames::End end = PythonFrames::End::Root) {
  PythonCalls calls{.frames = {}, .end = end};
  for (const std::uint64_t host : hosts) calls.frames.push_back({.function = "f", .host = host});
  return calls;
}

std::vector<std::uint32_t> places(const InterpretedStack& stack) {
  std::vector<std::uint32_t> places;
  for (const InterpretedFrame& frame : stack.frames) places.push_back(frame.at);
  return places;
}

TEST(PlacePython, ByTheAddressOfALocalVariable) {
  const RemoteStack stack =
      walked_stack({kElsewhere, kElsewhere, kElsewhere, kElsewhere, kElsewhere});
  for (const std::uint32_t minor : {11U, 12U, 13U, 14U}) {
    const auto placed =
        place_python(calls_of({0x10180, 0x10180, 0x10300, 0x103ff}), runtime_of(minor), stack);
    EXPECT_THAT(places(placed), ElementsAre(1, 1, 3, 3));
    EXPECT_EQ(placed.hidden_to, 0);
  }
}

TEST(PlacePython, AHostThatTheWalkHasNotSeenIsOutside) {
  const RemoteStack stack =
      walked_stack({kElsewhere, kElsewhere, kElsewhere}, OFFCPUD_UNWIND_END_NO_RULE);
  EXPECT_THAT(places(place_python(calls_of({0x10180, 0x90000, 0x90000}), runtime_of(12), stack)),
              ElementsAre(1, 3, 3));
  EXPECT_THAT(places(place_python(calls_of({0, 0}), runtime_of(12), stack)), ElementsAre(3, 3));
  EXPECT_THAT(places(place_python(calls_of({0x8000}), runtime_of(12), stack)), ElementsAre(3));
}

TEST(PlacePython, AnInnerFunctionIsNeverOutsideOfAnOuterOne) {
  const RemoteStack stack = walked_stack({kElsewhere, kElsewhere, kElsewhere});
  EXPECT_THAT(places(place_python(calls_of({0, 0x10180}), runtime_of(12), stack)),
              ElementsAre(1, 1));
}

TEST(PlacePython, BeforeElevenEachHasAFrameOfItsOwn) {
  const RemoteStack stack =
      walked_stack({kElsewhere, kEval + 9, kElsewhere, kEval + 0x100, kEval + 4, kElsewhere});
  EXPECT_THAT(places(place_python(calls_of({0, 0, 0}), runtime_of(9), stack)),
              ElementsAre(1, 3, 4));
}

// As with a C function that runs a frame and has no symbol.
TEST(PlacePython, BeforeElevenOtherNumbersAreReplacedAsAWhole) {
  const RemoteStack stack =
      walked_stack({kElsewhere, kEval + 9, kElsewhere, kEval + 4, kElsewhere});
  const auto placed = place_python(calls_of({0, 0, 0}), runtime_of(10), stack);
  EXPECT_THAT(places(placed), ElementsAre(1, 1, 1));
  EXPECT_EQ(placed.hidden_from, 1);
  EXPECT_EQ(placed.hidden_to, 4);
}

TEST(PlacePython, BeforeElevenAWalkThatEndedEarlyHasTheInnermost) {
  const RemoteStack stack =
      walked_stack({kElsewhere, kEval + 9, kEval + 4}, OFFCPUD_UNWIND_END_DEPTH);
  EXPECT_THAT(places(place_python(calls_of({0, 0, 0, 0}), runtime_of(8), stack)),
              ElementsAre(1, 2, 3, 3));
  const RemoteStack none = walked_stack({kElsewhere, kElsewhere});
  EXPECT_THAT(places(place_python(calls_of({0, 0}), runtime_of(8), none)), ElementsAre(2, 2));
}

TEST(PlacePython, ItSaysWhereFunctionsAreMissing) {
  const RemoteStack stack = walked_stack({kElsewhere, kElsewhere});
  const auto placed =
      place_python(calls_of({0x10010}, PythonFrames::End::Depth), runtime_of(13), stack);
  ASSERT_EQ(placed.frames.size(), 2);
  EXPECT_EQ(placed.frames[1].function, "[more functions of Python than are kept]");
}

}  // namespace
}  // namespace offcpud
