// SPDX-License-Identifier: Apache-2.0
#include "golang/go_stack.h"

#include <gmock/gmock.h>

#include "unit/golang/fake_go.h"

namespace offcpud {
namespace {

using testing::ElementsAre;
using testing_go::FakeGo;

// The stack of one goroutine, as it is in memory.
class GoStackTest : public testing::Test {
 public:
  GoStackTest() { functions_.allow(1'000); }
  GoStack walk(std::uint64_t goroutine, std::uint64_t size) {
    const MemoryWords memory(go_, FakeGo::kTgid);
    const auto high = *memory.read<std::uint64_t>(goroutine + kGoStackHigh);
    const std::uint64_t at = go_.stack_of(goroutine);
    const std::uint64_t room = high - at;
    const auto bytes = memory.range(at, std::min(size, room));
    return walk_go_stack(
        functions_, *memory.read<std::uint64_t>(goroutine + go_.layout().instruction), bytes, room);
  }
  std::vector<std::string> names(const GoStack& stack) {
    std::vector<std::string> names;
    for (const std::uint32_t function : stack.functions) names.push_back(functions_.name(function));
    return names;
  }

  FakeGo go_;
  GoFunctions functions_{go_.table(), FakeGo::kBias};
};

TEST_F(GoStackTest, LeadsToWhereTheGoroutineBegan) {
  const auto goroutine =
      go_.add({.functions = {FakeGo::kPark, FakeGo::kWorker, FakeGo::kServe}, .free = 100});
  const GoStack stack = walk(goroutine, 1'000);
  EXPECT_EQ(stack.end, GoStack::End::Root);
  EXPECT_THAT(names(stack), ElementsAre("runtime.gopark", "main.worker", "main.serve"));
}

TEST_F(GoStackTest, NeedsMoreIfTheBytesEndBefore) {
  const auto goroutine = go_.add({.functions = {FakeGo::kPark, FakeGo::kWorker}});
  const std::uint64_t frame = FakeGo::kDepth + 8;
  EXPECT_EQ(walk(goroutine, 2 * frame).end, GoStack::End::Root);
  EXPECT_EQ(walk(goroutine, 2 * frame - 1).end, GoStack::End::More);
  EXPECT_EQ(walk(goroutine, 0).end, GoStack::End::More);
}

TEST_F(GoStackTest, IsLostWhereNoFunctionIs) {
  const auto goroutine = go_.add({.functions = {FakeGo::kPark}, .has_root = false});
  const GoStack stack = walk(goroutine, 1'000);
  EXPECT_EQ(stack.end, GoStack::End::Lost);
  EXPECT_THAT(names(stack), ElementsAre("runtime.gopark"));
}

TEST_F(GoStackTest, IsLostIfTheStackEndsBefore) {
  const auto goroutine = go_.add({.functions = {FakeGo::kPark, FakeGo::kWorker}});
  const auto high = go_.stack_of(goroutine) + 2 * (FakeGo::kDepth + 8) - 8;
  go_.set(goroutine + kGoStackHigh, high);
  EXPECT_EQ(walk(goroutine, 1'000).end, GoStack::End::Lost);
}

TEST_F(GoStackTest, HasOnlyTheInnermostOfManyFunctions) {
  const auto goroutine = go_.add({.functions = std::vector<std::uint64_t>(300, FakeGo::kWorker)});
  const GoStack stack = walk(goroutine, 100'000);
  EXPECT_EQ(stack.end, GoStack::End::Depth);
  EXPECT_EQ(stack.functions.size(), GoStack::kMostFrames);
}

// A return address behind a call that ends its function is that of the next function.
TEST_F(GoStackTest, NamesTheFunctionThatCalls) {
  EXPECT_EQ(
      functions_.name(functions_.find(FakeGo::kCode + FakeGo::kBias + FakeGo::kServe - 1).function),
      "main.worker");
}

TEST_F(GoStackTest, FunctionsOfOtherAddressesAreNotKnown) {
  EXPECT_FALSE(functions_.find(FakeGo::kCode).is_known);
  EXPECT_FALSE(functions_.find(FakeGo::kCode + FakeGo::kBias - 1).is_known);
  EXPECT_FALSE(functions_.find(FakeGo::kCode + FakeGo::kBias + FakeGo::kEnd).is_known);
  EXPECT_FALSE(functions_.find(0).is_known);
}

// The depth is known for the first 127 bytes of each function only.
TEST_F(GoStackTest, TheDepthMayBeUnknown) {
  const auto place = functions_.find(FakeGo::kCode + FakeGo::kBias + FakeGo::kWorker + 0x80);
  EXPECT_TRUE(place.is_known);
  EXPECT_LT(place.depth, 0);
  EXPECT_EQ(functions_.find(FakeGo::kCode + FakeGo::kBias + FakeGo::kWorker).depth, FakeGo::kDepth);
}

TEST_F(GoStackTest, TheDepthIsNotKnownWithoutSteps) {
  const std::uint64_t serve = FakeGo::kCode + FakeGo::kBias + FakeGo::kServe;
  functions_.allow(0);
  EXPECT_LT(functions_.find(serve).depth, 0);
  EXPECT_TRUE(functions_.find(serve).is_known);
  functions_.allow(10);
  EXPECT_EQ(functions_.find(serve).depth, FakeGo::kDepth) << "it was not remembered";
}

}  // namespace
}  // namespace offcpud
