// SPDX-License-Identifier: Apache-2.0
#include "goroutines/watched_program.h"

#include <gmock/gmock.h>

#include "support/fake_clock.h"
#include "support/rules_of.h"
#include "unit/golang/fake_go.h"
#include "unit/golang/mapped_go.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;
using testing_go::FakeGo;

constexpr const char* kRulesOfWorkersAndNaps =
    "sites:\n"
    "  - name: worker\n"
    "    for: work\n"
    "    goroutine: chan receive\n"
    "    match: '... < main.worker'\n"
    "  - name: nap\n"
    "    for: timer\n"
    "    goroutine: sleep\n";

class WatchedProgramTest : public testing::Test {
 public:
  WatchedProgram& start(std::size_t least_goroutines = 0) {
    while (go_.count() < least_goroutines) go_.add({.id = go_.count()});
    testing_go::map_program(go_, reader_, files_);
    auto program = GoProgram::open({reader_, files_, go_}, FakeGo::kTgid);
    if (!program) throw std::logic_error(program.error().message());
    return watched_.emplace(*std::move(program), go_, clock_, FakeGo::kTgid);
  }
  std::optional<WatchedProgram::Look> look(std::chrono::nanoseconds after = 1s) {
    clock_.advance(after);
    return watched_->look(20ms, classifier_);
  }
  std::vector<GoroutineWaits> take() {
    std::vector<GoroutineWaits> waits;
    watched_->take(waits);
    return waits;
  }
  void wake(std::uint64_t goroutine) { go_.set(goroutine + go_.layout().status, std::uint32_t{2}); }
  static double seconds(const GoroutineWaits& waits) { return waits.ns * 1e-9; }

  FakeGo go_;
  FakeClock clock_;
  test::FakeReader reader_;
  test::FilesInMemory files_;
  WaitClassifier classifier_{test::rules_of(kRulesOfWorkersAndNaps)};
  std::optional<WatchedProgram> watched_;
};

TEST_F(WatchedProgramTest, TwoLooksStandForTheTimeBetweenThem) {
  go_.add({.id = 1});
  const std::uint64_t other = go_.add({.id = 2});
  start();
  ASSERT_TRUE(look());
  EXPECT_EQ(look(2s)->since, 2s);
  wake(other);
  look(3s);
  const auto waits = take();
  ASSERT_THAT(waits, SizeIs(1));
  EXPECT_DOUBLE_EQ(seconds(waits[0]), 2 * 2 + 3 * 1.5) << "it may have run at any time of the 3 s";
  EXPECT_EQ(waits[0].now, 1);
  EXPECT_EQ(waits[0].longest_ns, 5'000'000'000U);
  EXPECT_EQ(waits[0].wait_for, WaitFor::Work);
  EXPECT_EQ(waits[0].site, "worker");
  EXPECT_EQ(waits[0].reason, "chan receive");
  EXPECT_EQ(waits[0].function, "main.worker");
  EXPECT_EQ(waits[0].program, "shop");
}

TEST_F(WatchedProgramTest, TakesWhatIsNewSinceTheLastTime) {
  const std::uint64_t one = go_.add({.id = 1});
  start();
  look();
  look(4s);
  EXPECT_DOUBLE_EQ(seconds(take().at(0)), 4);
  look(1s);
  EXPECT_DOUBLE_EQ(seconds(take().at(0)), 1);
  wake(one);
  look(1s);
  EXPECT_DOUBLE_EQ(seconds(take().at(0)), 0.5);
  look(1s);
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(WatchedProgramTest, ReasonsAndFunctionsAreRowsAndTheRuntimesOwnAreLeftOut) {
  go_.add({.id = 1, .reason = FakeGo::kSleep});
  go_.add({.id = 2, .reason = FakeGo::kIoWait, .functions = {FakeGo::kPark, FakeGo::kServe}});
  go_.add({.id = 3, .reason = FakeGo::kReceive, .functions = {FakeGo::kPark, FakeGo::kSweep}});
  start();
  look();
  look();
  const auto waits = take();
  ASSERT_THAT(waits, SizeIs(2));
  EXPECT_EQ(waits[0].wait_for, WaitFor::Timer);
  EXPECT_EQ(waits[1].wait_for, WaitFor::Unknown);
  EXPECT_EQ(waits[1].function, "main.serve");
  EXPECT_EQ(waits[1].site, "");
}

// 2,048 goroutines, of which a look that may take no time reads one part of 256.
TEST_F(WatchedProgramTest, ThoseThatALookReadsStandForAll) {
  start(2'048);
  const auto first = watched_->look(0ns, classifier_);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->goroutines, 256U);
  EXPECT_EQ(first->left_out, 1'792U);
  clock_.advance(1s);
  watched_->look(0ns, classifier_);
  EXPECT_DOUBLE_EQ(seconds(take().at(0)), 2'048);
}

// One of eight goroutines does something else. As looks take turns, all are seen.
TEST_F(WatchedProgramTest, EveryGoroutineGetsItsTurn) {
  go_.add({.id = 9, .reason = FakeGo::kSleep});
  start(1'024);
  for (int i = 0; i <= 4; ++i) {
    watched_->look(0ns, classifier_);
    clock_.advance(1s);
  }
  double asleep = 0, all = 0;
  for (const GoroutineWaits& waits : take()) {
    all += seconds(waits);
    if (waits.wait_for == WaitFor::Timer) asleep += seconds(waits);
  }
  EXPECT_DOUBLE_EQ(all, 4 * 1'024);
  EXPECT_GE(asleep, 2) << "4 looks, one of which sees it and stands for 4";
  EXPECT_LE(asleep, 8);
}

TEST_F(WatchedProgramTest, WhoCannotBeReadSaysWhy) {
  go_.add({.id = 1});
  start();
  look();
  go_.set(go_.all(), 0ULL);
  EXPECT_FALSE(look());
  EXPECT_EQ(watched_->failure(), WatchedProgram::Failure::Gone);
}

TEST_F(WatchedProgramTest, StacksThatLeadNowhereAreRefused) {
  for (std::uint64_t id = 0; id < 4; ++id) go_.add({.id = id, .has_root = false});
  start();
  EXPECT_FALSE(look());
  EXPECT_EQ(watched_->failure(), WatchedProgram::Failure::Stacks);
}

TEST_F(WatchedProgramTest, OtherRulesSortAnew) {
  go_.add({.id = 1, .reason = FakeGo::kSleep});
  start();
  look();
  look();
  EXPECT_EQ(take().at(0).wait_for, WaitFor::Timer);
  classifier_.use(test::rules_of("sites:\n  - name: a\n    for: work\n    goroutine: sleep\n"));
  watched_->forget_classes();
  look();
  look();
  double work = 0;
  for (const GoroutineWaits& waits : take()) {
    if (waits.wait_for == WaitFor::Work) work += seconds(waits);
  }
  EXPECT_DOUBLE_EQ(work, 1.5) << "half of the time between the looks before and after";
}

}  // namespace
}  // namespace offcpud
