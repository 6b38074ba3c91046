// SPDX-License-Identifier: Apache-2.0
// Nobody is said to hold a lock that another thread has. Six threads take one lock in turn, and
// write their numbers into a word as long as they have it. A look names a holder; if the word is
// the same before and after the look, its thread had the lock all the time, and no other may be
// named.
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <tuple>

#include "integration/locks/contended_program.h"
#include "integration/locks/lock_looks.h"

namespace offcpud::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kThreads = 6;  // of the program
constexpr int kCompared = 2'000;     // looks
constexpr auto kPatience = 150s;     // on a busy host
constexpr int kLongHoldUs = 20'000;  // several looks
constexpr int kShortHoldUs = 50;     // several readings of the lock's memory, and no look
constexpr int kReadings = 200;       // of the memory, for each look
constexpr std::uint64_t kOperations = 10'000'000;

struct Kind {
  const char* name;
  LockKind kind;
};
constexpr Kind kMutex{"mutex", LockKind::Mutex};

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.name;
}

std::unique_ptr<LockLooks> looks_at(const ContendedProgram& program, const Kind& kind) {
  auto looks = LockLooks::open(program, kind.kind);
  if (looks) return *std::move(looks);
  const Error& error = looks.error();
  const bool cannot =
      error.kind() == ErrorKind::Permission || error.kind() == ErrorKind::Unsupported;
  EXPECT_TRUE(cannot) << error.message();
  return nullptr;
}

void expect_right(const char* what, const LookScore& score, std::size_t holders) {
  std::cout << "  " << what << ": " << score.compared << " compared, " << score.wrong << " wrong, "
            << score.silent << " named nobody, " << score.changing << " while it changed hands; "
            << score.holders.size() << " holders\n";
  std::string mistakes;
  for (const std::string& mistake : score.mistakes) mistakes += mistake + "; ";
  EXPECT_EQ(score.wrong, 0) << what << ": " << mistakes;
  EXPECT_GE(score.compared, kCompared) << what;
  EXPECT_GE(score.holders.size(), holders) << what;
}

class Locks : public testing::TestWithParam<std::tuple<Kind, bool>> {
 protected:
  void start(ContendedProgram::Options options) {
    options.kind = kind().name;
    options.in_namespace = std::get<1>(GetParam());
    program_ = std::make_unique<ContendedProgram>(options);
    looks_ = looks_at(*program_, kind());
  }
  static Kind kind() { return std::get<0>(GetParam()); }
  // The threads that may be named: one of those of a read-write lock only reads.
  static std::size_t writers() { return kThreads - (kind().kind == LockKind::RwLock ? 1 : 0); }

  std::unique_ptr<ContendedProgram> program_;
  std::unique_ptr<LockLooks> looks_;
};

std::string name_of_test(const testing::TestParamInfo<Locks::ParamType>& info) {
  return std::string(std::get<0>(info.param).name) +
         (std::get<1>(info.param) ? "_in_a_pid_namespace" : "");
}

using LongHolds = Locks;

TEST_P(LongHolds, EachHasTheHolderThatIsNamed) {
  start({.hold_us = kLongHoldUs});
  if (!looks_) GTEST_SKIP() << "this host does not let it load the programs";
  for (const auto end = Clock::now() + kPatience;
       looks_->of_finder().compared < kCompared && Clock::now() < end;) {
    const Status looked = looks_->look();
    ASSERT_TRUE(looked) << looked.error().message();
  }
  expect_right("looks", looks_->of_finder(), writers());
}

INSTANTIATE_TEST_SUITE_P(Kinds, LongHolds,
                         testing::Combine(testing::Values(kMutex, Kind{"std", LockKind::Mutex},
                                                          Kind{"robust", LockKind::RobustMutex},
                                                          Kind{"pi", LockKind::PiMutex},
                                                          Kind{"rwlock", LockKind::RwLock}),
                                          testing::Bool()),
                         name_of_test);

using ShortHolds = Locks;

// They are over before a look is, but a reading of the lock's memory may fall into one.
TEST_P(ShortHolds, TheMemoryNamesWhoHasTheLock) {
  start({.hold_us = kShortHoldUs});
  if (!looks_) GTEST_SKIP() << "this host does not let it load the programs";
  for (const auto end = Clock::now() + kPatience;
       looks_->of_memory().compared < kCompared && Clock::now() < end;) {
    const Status looked = looks_->look();
    ASSERT_TRUE(looked) << looked.error().message();
    looks_->read_often(kReadings);
  }
  expect_right("readings", looks_->of_memory(), writers());
  EXPECT_EQ(looks_->of_finder().wrong, 0);
}

// Of a PI mutex the kernel knows the holder; no memory is read.
INSTANTIATE_TEST_SUITE_P(Kinds, ShortHolds,
                         testing::Combine(testing::Values(kMutex, Kind{"std", LockKind::Mutex},
                                                          Kind{"robust", LockKind::RobustMutex},
                                                          Kind{"rwlock", LockKind::RwLock}),
                                          testing::Bool()),
                         name_of_test);

// Most of them take less than a microsecond. Now and then somebody keeps the lock for some looks.
TEST(Contended, TenMillionOperationsHaveNoFalseHolder) {
  ContendedProgram program(
      {.operations = kOperations, .hold_us = 2 * kLongHoldUs, .hold_each = 20'000});
  const auto looks = looks_at(program, kMutex);
  if (!looks) GTEST_SKIP() << "this host does not let it load the programs";
  std::optional<int> status;
  for (const auto end = Clock::now() + 2 * kPatience; !status && Clock::now() < end;
       status = program.ended()) {
    const Status looked = looks->look();
    ASSERT_TRUE(looked) << looked.error().message();
    looks->read_often(kReadings);
  }
  std::cout << "  " << program.contended() << " operations while others waited\n";
  EXPECT_EQ(status, 0);
  EXPECT_GE(program.contended(), kOperations);
  expect_right("looks", looks->of_finder(), kThreads);
  expect_right("readings", looks->of_memory(), kThreads);
}

}  // namespace
}  // namespace offcpud::test
