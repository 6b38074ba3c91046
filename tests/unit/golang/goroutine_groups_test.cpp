// SPDX-License-Identifier: Apache-2.0
#include "golang/goroutine_groups.h"

#include <gmock/gmock.h>

#include "support/fake_clock.h"
#include "unit/golang/fake_go.h"

namespace offcpud {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing_go::FakeGo;

class GoroutineGroupsTest : public testing::Test {
 public:
  // Looks so often, 1 s apart, and groups what the last look found.
  std::vector<GoroutineGroup> groups(int looks = 1) { return all(looks).shown; }
  GoroutineGroups all(int looks = 1, std::size_t limit = 100) {
    runtime_ = *go_.find().runtime;
    GoFunctions functions(go_.table(), FakeGo::kBias);
    GoroutineReader reader(go_, clock_, FakeGo::kTgid, runtime_, functions);
    auto look = reader.look();
    for (int i = 1; i < looks; ++i) {
      clock_.advance(seconds(1));
      if (between_) between_();
      look = reader.look();
    }
    return group_goroutines(*look, reader, runtime_, functions, limit);
  }

  FakeGo go_;
  FakeClock clock_;
  GoRuntime runtime_;
  std::function<void()> between_;
};

TEST_F(GoroutineGroupsTest, AreByReasonAndStackAndTheLargestFirst) {
  go_.add({.id = 1, .reason = FakeGo::kSleep});
  go_.add({.id = 2, .reason = FakeGo::kReceive});
  go_.add({.id = 3, .reason = FakeGo::kReceive, .functions = {FakeGo::kPark, FakeGo::kServe}});
  go_.add({.id = 4, .reason = FakeGo::kReceive, .functions = {FakeGo::kPark, FakeGo::kServe}});
  const auto found = groups();
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[0].number, 2);
  EXPECT_EQ(found[0].reason, "chan receive");
  EXPECT_THAT(found[0].functions, ElementsAre("runtime.gopark", "main.serve"));
  EXPECT_EQ(found[1].number, 1);
  EXPECT_EQ(found[2].number, 1);
}

TEST_F(GoroutineGroupsTest, OfTheRuntimeAreLast) {
  for (std::uint64_t id = 2; id < 5; ++id) {
    go_.add({.id = id, .functions = {FakeGo::kPark, FakeGo::kSweep}});
  }
  go_.add({.id = 1, .functions = {FakeGo::kPark, FakeGo::kWorker, FakeGo::kMain}});
  const auto found = groups();
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_FALSE(found[0].is_runtime) << "the main goroutine is the program's";
  EXPECT_TRUE(found[1].is_runtime);
}

TEST_F(GoroutineGroupsTest, BeyondTheLimitAreCounted) {
  go_.add({.id = 1, .reason = FakeGo::kReceive});
  go_.add({.id = 2, .reason = FakeGo::kReceive});
  go_.add({.id = 3, .reason = FakeGo::kSleep});
  go_.add({.id = 4, .functions = {FakeGo::kPark, FakeGo::kSweep}});
  const GoroutineGroups one = all(1, 1);
  ASSERT_THAT(one.shown, SizeIs(1));
  EXPECT_EQ(one.shown[0].number, 2);
  EXPECT_EQ(one.left_out, 1);
  EXPECT_EQ(one.of_runtime_left_out, 1);
  EXPECT_EQ(one.of_runtime, 1);
  EXPECT_EQ(all(1, 3).of_runtime, 1);
  EXPECT_EQ(all(1, 3).left_out + all(1, 3).of_runtime_left_out, 0);
}

// 256 functions of 11 bytes for each of the reasons.
TEST_F(GoroutineGroupsTest, OfNamesThatAreTooLongInAllAreCounted) {
  const std::vector<std::uint64_t> deep(256, FakeGo::kWorker);
  for (int i = 0; i < 1'000; ++i) {
    auto functions = deep;
    functions[static_cast<std::size_t>(i % 250)] = FakeGo::kServe;
    go_.add({.id = 1, .reason = static_cast<std::uint8_t>(i / 250), .functions = functions});
  }
  const GoroutineGroups some = all(1, 2'000);
  std::size_t bytes = 0;
  for (const GoroutineGroup& group : some.shown) {
    for (const std::string& function : group.functions) bytes += function.size();
  }
  EXPECT_LE(bytes, GoroutineGroups::kMostBytes);
  EXPECT_GT(bytes, GoroutineGroups::kMostBytes * 99 / 100);
  EXPECT_EQ(some.shown.size() + some.left_out, 1'000);
}

TEST_F(GoroutineGroupsTest, AgesAreKnownFromThreeLooksOn) {
  go_.add({});
  EXPECT_EQ(groups(1)[0].longest, std::nullopt);
  EXPECT_EQ(groups(2)[0].longest, std::nullopt);
  EXPECT_EQ(groups(3)[0].longest, seconds(2));
}

// The runtime notes the time of the collection before the one that sees a goroutine wait, so the
// wait may have begun until the next one.
TEST_F(GoroutineGroupsTest, TheAgeIsFromTheNextCollectionOn) {
  const auto ago = [this](int time) { return ns_of(clock_.now() - seconds(time)); };
  go_.add({.id = 1, .reason = FakeGo::kSleep, .since_ns = ago(90)});
  go_.add({.id = 2, .reason = FakeGo::kIoWait, .since_ns = ago(60)});
  go_.add({.id = 3, .reason = FakeGo::kReceive, .since_ns = ago(30)});
  go_.add({.id = 4, .reason = FakeGo::kReceive});
  std::map<std::string, std::optional<std::chrono::nanoseconds>> ages;
  for (const GoroutineGroup& group : groups()) ages[group.reason] = group.longest;
  EXPECT_EQ(ages["sleep"], seconds(60));
  EXPECT_EQ(ages["IO wait"], seconds(30));
  EXPECT_EQ(ages["chan receive"], std::nullopt);
}

TEST_F(GoroutineGroupsTest, TheAgeIsThatOfTheOldest) {
  const auto ago = [this](int time) { return ns_of(clock_.now() - seconds(time)); };
  for (const int time : {30, 90, 60, 0}) {
    go_.add({.id = 1, .since_ns = time == 0 ? 0 : ago(time)});
  }
  EXPECT_EQ(groups()[0].longest, seconds(60));
}

TEST_F(GoroutineGroupsTest, ACollectionInTheFutureIsNone) {
  go_.add({.id = 1, .since_ns = ns_of(clock_.now() - seconds(60))});
  go_.add({.id = 2, .since_ns = ns_of(clock_.now() + seconds(60))});
  EXPECT_EQ(groups(1)[0].longest, std::nullopt);
}

TEST_F(GoroutineGroupsTest, WhoRanInBetweenHasNoAge) {
  const std::uint64_t goroutine = go_.add({});
  std::uint8_t count = 0;
  between_ = [&] { go_.set(goroutine + go_.counter(), ++count); };
  EXPECT_EQ(groups(4)[0].longest, std::nullopt);
}

TEST_F(GoroutineGroupsTest, WhoChangedWhileItWasReadHasAReasonOnly) {
  const std::uint64_t goroutine = go_.add({});
  const std::uint64_t stack = go_.stack_of(goroutine);
  runtime_ = *go_.find().runtime;
  go_.before = [&](const MemoryPiece& piece) {
    if (piece.address == stack) go_.set(goroutine + go_.counter(), std::uint8_t{1});
  };
  const auto found = groups();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_FALSE(found[0].has_stack);
  EXPECT_EQ(found[0].reason, "chan receive");
  EXPECT_THAT(found[0].functions, IsEmpty());
}

TEST_F(GoroutineGroupsTest, AReasonThatTheRuntimeDoesNotNameIsEmpty) {
  go_.add({.reason = 200});
  EXPECT_EQ(groups()[0].reason, "");
}

}  // namespace
}  // namespace offcpud
