// SPDX-License-Identifier: Apache-2.0
#include "golang/goroutine_reader.h"

#include <gmock/gmock.h>

#include "support/fake_clock.h"
#include "unit/golang/fake_go.h"

namespace offcpud {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing_go::FakeGo;

// A program, and who reads it.
struct Program {
  explicit Program(const FakeGo::Build& build = {}) : go(build) {}

  GoroutineReader& start(const GoroutineLimits& limits = {}) {
    const FoundGo found = go.find();
    if (!found.runtime) throw std::logic_error(found.why);
    runtime = *found.runtime;
    functions.emplace(go.table(), FakeGo::kBias);
    reader.emplace(go, clock, FakeGo::kTgid, runtime, *functions, limits);
    return *reader;
  }
  std::vector<std::string> names(const WaitingGoroutine& goroutine) {
    std::vector<std::string> names;
    for (const std::uint32_t function : reader->stack(goroutine.stack).functions) {
      names.push_back(functions->name(function));
    }
    return names;
  }
  // Does it once, when the stack of the goroutine is read.
  void when_read(std::uint64_t goroutine, std::function<void()> act) {
    go.before = [this, at = go.stack_of(goroutine),
                 act = std::move(act)](const MemoryPiece& piece) {
      if (piece.address != at) return;
      const auto once = std::exchange(go.before, {});
      act();
    };
  }

  FakeGo go;
  FakeClock clock;
  GoRuntime runtime;
  std::optional<GoFunctions> functions;
  std::optional<GoroutineReader> reader;
};

TEST(GoroutineReader, ReadsThoseThatWaitWithTheirReasonAndStack) {
  Program program;
  program.go.add({.id = 1, .reason = FakeGo::kSleep, .since_ns = 77});
  program.go.add(
      {.id = 2, .reason = FakeGo::kIoWait, .functions = {FakeGo::kPark, FakeGo::kServe}});
  const auto look = program.start().look();
  ASSERT_TRUE(look);
  ASSERT_THAT(look->waiting, SizeIs(2));
  EXPECT_EQ(look->waiting[0].id, 1);
  EXPECT_EQ(look->waiting[0].reason, FakeGo::kSleep);
  EXPECT_EQ(look->waiting[0].since_ns, 77);
  EXPECT_THAT(program.names(look->waiting[0]), ElementsAre("runtime.gopark", "main.worker"));
  EXPECT_THAT(program.names(look->waiting[1]), ElementsAre("runtime.gopark", "main.serve"));
  EXPECT_EQ(look->changed + look->lost + look->unreadable, 0);
}

TEST(GoroutineReader, CountsTheOthersByWhatTheyDo) {
  Program program;
  for (const std::uint32_t status : {1U, 2U, 2U, 3U, 4U, 0x1004U, 6U, 6U, 6U, 9U}) {
    program.go.add({.id = 1, .status = status});
  }
  const auto look = program.start().look();
  ASSERT_TRUE(look);
  EXPECT_EQ(look->all, 10);
  EXPECT_EQ(look->looked_at, 10);
  EXPECT_EQ(look->runnable, 1);
  EXPECT_EQ(look->running, 2);
  EXPECT_EQ(look->in_call, 1);
  EXPECT_EQ(look->ended, 3);
  EXPECT_EQ(look->other, 1);
  EXPECT_THAT(look->waiting, SizeIs(2)) << "also one that is being scanned";
}

TEST(GoroutineReader, ReadsDeepStacksWhole) {
  Program program;
  program.go.add({.functions = std::vector<std::uint64_t>(200, FakeGo::kWorker)});
  const auto look = program.start().look();
  ASSERT_TRUE(look);
  ASSERT_THAT(look->waiting, SizeIs(1));
  EXPECT_THAT(program.names(look->waiting[0]), SizeIs(200));
  EXPECT_EQ(program.reader->stack(look->waiting[0].stack).end, GoStack::End::Root);
}

TEST(GoroutineReader, StacksThatDoNotLeadToTheBeginningAreCounted) {
  Program program;
  program.go.add({.has_root = false});
  const auto look = program.start().look();
  ASSERT_TRUE(look);
  EXPECT_EQ(look->lost, 1);
  EXPECT_EQ(program.reader->look()->lost, 1) << "as long as it waits so";
}

// Each of these changes when the stack is read, after the goroutine was.
TEST(GoroutineReader, OneThatChangesMeanwhileCountsWithoutAStack) {
  const auto expect_changed = [](const auto& change) {
    Program program;
    program.go.add({.id = 1});
    const std::uint64_t goroutine = program.go.add({.id = 2});
    GoroutineReader& reader = program.start();
    program.when_read(goroutine, [&] { change(program.go, goroutine); });
    const auto look = reader.look();
    ASSERT_TRUE(look);
    EXPECT_EQ(look->changed, 1);
    ASSERT_THAT(look->waiting, SizeIs(2));
    EXPECT_EQ(look->waiting[1].stack, GoroutineReader::kChanged);
    EXPECT_EQ(look->waiting[1].reason, FakeGo::kReceive);
    EXPECT_THAT(program.names(look->waiting[1]), IsEmpty());
  };
  expect_changed([](FakeGo& go, std::uint64_t at) { go.set(at + go.layout().status, 2U); });
  expect_changed([](FakeGo& go, std::uint64_t at) { go.set(at + go.layout().id, 9ULL); });
  expect_changed([](FakeGo& go, std::uint64_t at) { go.set(at + go.layout().instruction, 1ULL); });
  expect_changed(
      [](FakeGo& go, std::uint64_t at) { go.set(at + go.layout().stack_pointer, 1ULL); });
  expect_changed(
      [](FakeGo& go, std::uint64_t at) { go.set(at + go.layout().wait_reason, FakeGo::kSleep); });
  expect_changed([](FakeGo& go, std::uint64_t at) { go.set(at + go.counter(), std::uint8_t{1}); });
  expect_changed([](FakeGo& go, std::uint64_t at) { go.set(at + kGoStackHigh, ~0ULL); });
}

TEST(GoroutineReader, OneThatIsScannedMeanwhileHasNotChanged) {
  Program program;
  const std::uint64_t goroutine = program.go.add({});
  GoroutineReader& reader = program.start();
  program.when_read(goroutine, [&] {
    program.go.set(goroutine + program.go.layout().status, 0x1004U);
    program.go.set(goroutine + program.go.layout().wait_since, 5ULL);
  });
  const auto look = reader.look();
  ASSERT_TRUE(look);
  EXPECT_EQ(look->changed, 0);
  EXPECT_THAT(program.names(look->waiting[0]), SizeIs(2));
}

TEST(GoroutineReader, KnowsTheSameWaitInTheNextLook) {
  Program program;
  program.go.add({});
  GoroutineReader& reader = program.start();
  const MonotonicTime first = program.clock.now();
  ASSERT_TRUE(reader.look());
  program.clock.advance(std::chrono::seconds(1));
  std::uint64_t stacks = 0;
  program.go.before = [&](const MemoryPiece& piece) { stacks += piece.to.size() == 64 ? 1 : 0; };
  const auto look = reader.look();
  ASSERT_THAT(look->waiting, SizeIs(1));
  EXPECT_EQ(look->waiting[0].sightings, 2);
  EXPECT_EQ(look->waiting[0].seen_since, first);
  EXPECT_THAT(program.names(look->waiting[0]), SizeIs(2));
  EXPECT_EQ(stacks, 0) << "its stack is not read again";
}

TEST(GoroutineReader, TellsTwoWaitsAtOnePlaceApartByTheCounter) {
  Program program;
  const std::uint64_t goroutine = program.go.add({.counter = 255});
  GoroutineReader& reader = program.start();
  ASSERT_TRUE(reader.look());
  program.go.set(goroutine + program.go.counter(), std::uint8_t{0});
  program.clock.advance(std::chrono::seconds(1));
  const auto look = reader.look();
  ASSERT_THAT(look->waiting, SizeIs(1));
  EXPECT_EQ(look->waiting[0].sightings, 1);
  EXPECT_EQ(look->waiting[0].seen_since, program.clock.now());
}

TEST(GoroutineReader, TellsTwoWaitsAtOnePlaceApartByTheirBeginning) {
  Program program;
  const std::uint64_t goroutine = program.go.add({.since_ns = 1'000});
  GoroutineReader& reader = program.start();
  ASSERT_TRUE(reader.look());
  program.go.set(goroutine + program.go.layout().wait_since, 0ULL);
  EXPECT_EQ(reader.look()->waiting[0].sightings, 1);
}

TEST(GoroutineReader, AWaitThatWasNotSeenInBetweenBeginsAnew) {
  Program program;
  program.go.add({.id = 1});
  const std::uint64_t goroutine = program.go.add({.id = 2});
  GoroutineReader& reader = program.start();
  ASSERT_TRUE(reader.look());
  program.go.set(goroutine + program.go.layout().status, 2U);
  ASSERT_TRUE(reader.look());
  program.go.set(goroutine + program.go.layout().status, 4U);
  const auto look = reader.look();
  std::vector<std::uint32_t> sightings;
  for (const WaitingGoroutine& each : look->waiting) sightings.push_back(each.sightings);
  EXPECT_THAT(sightings, testing::UnorderedElementsAre(3, 1));
}

TEST(GoroutineReader, WithoutACounterOnlyTheBeginningTells) {
  Program program({.minor = 16});
  program.go.add({.id = 1});
  program.go.add({.id = 2, .since_ns = 1'000});
  GoroutineReader& reader = program.start();
  ASSERT_TRUE(reader.look());
  const auto look = reader.look();
  ASSERT_THAT(look->waiting, SizeIs(2));
  std::map<std::uint64_t, std::uint32_t> sightings;
  for (const WaitingGoroutine& each : look->waiting) sightings[each.id] = each.sightings;
  EXPECT_THAT(sightings, ElementsAre(std::pair(1, 1), std::pair(2, 2)));
  EXPECT_EQ(look->changed, 0);
}

TEST(GoroutineReader, LooksAtSomeOfManySpreadEvenly) {
  Program program;
  for (std::uint64_t id = 0; id < 4'000; ++id) program.go.add({.id = id});
  const auto look = program.start({.goroutines = 1'000}).look();
  ASSERT_TRUE(look);
  EXPECT_EQ(look->all, 4'000);
  EXPECT_EQ(look->looked_at, 1'000) << "four of sixteen parts";
  std::uint64_t sum = 0;
  for (const WaitingGoroutine& each : look->waiting) {
    EXPECT_LT(each.id % 16, 4);
    sum += each.id;
  }
  EXPECT_NEAR(static_cast<double>(sum) / 1'000, 2'000, 8);
}

TEST(GoroutineReader, StopsWhenItsTimeIsOver) {
  Program program;
  for (std::uint64_t id = 0; id < 4'000; ++id) program.go.add({.id = id});
  GoroutineReader& reader = program.start({.time = std::chrono::milliseconds(20)});
  program.go.before = [&](const MemoryPiece&) {
    program.clock.advance(std::chrono::microseconds(10));
  };
  const auto look = reader.look();
  ASSERT_TRUE(look);
  EXPECT_EQ(look->looked_at, 750) << "750 reads of a part of 250 take 7.5 ms";
}

TEST(GoroutineReader, HasOnlySoManyDifferentStacks) {
  Program program;
  program.go.add({.functions = {FakeGo::kPark}});
  program.go.add({.functions = {FakeGo::kPark, FakeGo::kWorker}});
  program.go.add({.functions = {FakeGo::kPark}});
  const auto look = program.start({.stacks = 1}).look();
  ASSERT_THAT(look->waiting, SizeIs(3));
  EXPECT_EQ(look->waiting[0].stack, look->waiting[2].stack);
  EXPECT_EQ(look->waiting[1].stack, GoroutineReader::kLeftOut);
}

TEST(GoroutineReader, WhoCannotBeReadIsCounted) {
  Program program;
  for (std::uint64_t id = 0; id < 70; ++id) program.go.add({.id = id});
  GoroutineReader& reader = program.start();
  program.go.set(program.go.list() + 8 * 69, 0x1234ULL);
  const auto look = reader.look();
  EXPECT_EQ(look->unreadable, 1);
  EXPECT_THAT(look->waiting, SizeIs(69));
}

TEST(GoroutineReader, AListThatIsGoneIsNoLook) {
  Program program;
  program.go.add({});
  GoroutineReader& reader = program.start();
  program.go.set(program.go.all(), 0x1234ULL);
  EXPECT_FALSE(reader.look());
}

// The runtime moved the list while it was read, and used the old memory for something else.
TEST(GoroutineReader, AListThatMovesMeanwhileIsReadAgain) {
  Program program;
  const std::uint64_t goroutine = program.go.add({.id = 5});
  GoroutineReader& reader = program.start();
  program.go.before = [&](const MemoryPiece& piece) {
    if (piece.address != program.go.list()) return;
    const auto once = std::exchange(program.go.before, {});
    const std::uint64_t elsewhere = program.go.put_words({goroutine});
    program.go.set(program.go.all(), elsewhere);
    program.go.set(program.go.list(), 0x1234ULL);
  };
  const auto look = reader.look();
  ASSERT_TRUE(look);
  EXPECT_EQ(look->unreadable, 0);
  ASSERT_THAT(look->waiting, SizeIs(1));
  EXPECT_EQ(look->waiting[0].id, 5);
}

}  // namespace
}  // namespace offcpud
