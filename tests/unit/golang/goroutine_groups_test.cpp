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

class GoroutineGroups : public testing::Test {
 public:
  // Looks so often, 1 s apart, and groups what the last look found.
  std::vector<GoroutineGroup> groups(int looks = 1) {
    runtime_ = *go_.find().runtime;
    GoFunctions functions(go_.table(), FakeGo::kBias);
    GoroutineReader reader(go_, clock_, FakeGo::kTgid, runtime_, functions);
    auto look = reader.look();
    for (int i = 1; i < looks; ++i) {
      clock_.advance(seconds(1));
      if (between_) between_();
      look = reader.look();
    }
    return group_goroutines(*look, reader, runtime_, functions);
  }

  FakeGo go_;
  FakeClock clock_;
  GoRuntime runtime_;
  std::function<void()> between_;
};

TEST_F(GoroutineGroups, AreByReasonAndStackAndTheLargestFirst) {
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

TEST_F(GoroutineGroups, OfTheRuntimeAreLast) {
  for (std::uint64_t id = 2; id < 5; ++id) {
    go_.add({.id = id, .functions = {FakeGo::kPark, FakeGo::kSweep}});
  }
  go_.add({.id = 1, .functions = {FakeGo::kPark, FakeGo::kWorker, FakeGo::kMain}});
  const auto found = groups();
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_FALSE(found[0].is_runtime) << "the main goroutine is the program's";
  EXPECT_TRUE(found[1].is_runtime);
}

TEST_F(GoroutineGroups, AgesAreKnownFromThreeLooksOn) {
  go_.add({});
  EXPECT_EQ(groups(1)[0].longest, std::nullopt);
  EXPECT_EQ(groups(2)[0].longest, std::nullopt);
  EXPECT_EQ(groups(3)[0].longest, seconds(2));
}

// The runtime notes the time of the collection before the one that sees a goroutine wait, so the
// wait may have begun until the next one.
TEST_F(GoroutineGroups, TheAgeIsFromTheNextCollectionOn) {
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

TEST_F(GoroutineGroups, TheAgeIsThatOfTheOldest) {
  const auto ago = [this](int time) { return ns_of(clock_.now() - seconds(time)); };
  for (const int time : {30, 90, 60, 0}) {
    go_.add({.id = 1, .since_ns = time == 0 ? 0 : ago(time)});
  }
  EXPECT_EQ(groups()[0].longest, seconds(60));
}

TEST_F(GoroutineGroups, ACollectionInTheFutureIsNone) {
  go_.add({.id = 1, .since_ns = ns_of(clock_.now() - seconds(60))});
  go_.add({.id = 2, .since_ns = ns_of(clock_.now() + seconds(60))});
  EXPECT_EQ(groups(1)[0].longest, std::nullopt);
}

TEST_F(GoroutineGroups, WhoRanInBetweenHasNoAge) {
  const std::uint64_t goroutine = go_.add({});
  std::uint8_t count = 0;
  between_ = [&] { go_.set(goroutine + go_.counter(), ++count); };
  EXPECT_EQ(groups(4)[0].longest, std::nullopt);
}

TEST_F(GoroutineGroups, WhoChangedWhileItWasReadHasAReasonOnly) {
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

TEST_F(GoroutineGroups, AReasonThatTheRuntimeDoesNotNameIsEmpty) {
  go_.add({.reason = 200});
  EXPECT_EQ(groups()[0].reason, "");
}

}  // namespace
}  // namespace offcpud
