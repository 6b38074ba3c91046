// SPDX-License-Identifier: Apache-2.0
#include "deadlock_journal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/fake_clock.h"

namespace offcpud {
namespace {

HeldWait waits(std::uint32_t tid, std::uint32_t holder, const std::string& name) {
  LockHolder of{.tid = holder, .local_tid = holder};
  std::ranges::copy(name.substr(0, OFFCPUD_COMM - 1), of.comm.begin());
  std::ranges::copy(std::string("server"), of.process.comm.begin());
  of.process.local_tgid = 100;
  return {.tid = tid,
          .pid = 100,
          .since_ns = 5,
          .cgroup = "/a.service",
          .holder = std::make_shared<const LockHolder>(of)};
}

TEST(DeadlockText, SaysWhoWaitsForWhom) {
  EXPECT_EQ(
      deadlock_text({waits(101, 102, "auditor"), waits(102, 101, "worker")}),
      "deadlock of 2 threads in /a.service: worker[101] of server[100] waits for a mutex that "
      "auditor[102] of server[100] holds, auditor[102] of server[100] waits for a mutex that "
      "worker[101] of server[100] holds");
}

TEST(DeadlockText, IsOneLineWhateverNamesHave) {
  const std::string text = deadlock_text({waits(1, 2, "a\nb\x1b["), waits(2, 1, "c")});
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(DeadlockText, NamesTheFirstOfVeryMany) {
  Deadlock ring;
  for (std::uint32_t i = 1; i <= 1'000; ++i) ring.push_back(waits(i, i % 1'000 + 1, "t"));
  const std::string text = deadlock_text(ring);
  EXPECT_TRUE(text.starts_with("deadlock of 1000 threads in ")) << text;
  EXPECT_TRUE(text.ends_with("holds, ...")) << text;
  EXPECT_LT(text.size(), 1'000U);
}

class DeadlockJournalTest : public testing::Test {
 protected:
  long lines(const std::vector<Deadlock>* deadlocks) {
    testing::internal::CaptureStderr();
    journal_.record(deadlocks);
    const std::string log = testing::internal::GetCapturedStderr();
    return std::ranges::count(log, '\n');
  }
  static std::vector<Deadlock> pairs(std::uint32_t count) {
    std::vector<Deadlock> all;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t one = 10 * i + 1, other = 10 * i + 2;
      all.push_back({waits(one, other, "a"), waits(other, one, "b")});
    }
    return all;
  }

  FakeClock clock_;
  DeadlockJournal journal_{clock_};
};

// Also if one look in between failed.
TEST_F(DeadlockJournalTest, TellsEachOnce) {
  const auto one = pairs(1);
  EXPECT_EQ(lines(nullptr), 0);
  EXPECT_EQ(lines(&one), 1);
  EXPECT_EQ(lines(&one), 0);
  EXPECT_EQ(lines(nullptr), 0);
  EXPECT_EQ(lines(&one), 0);
  const auto two = pairs(2);
  EXPECT_EQ(lines(&two), 1) << "the other one";
}

TEST_F(DeadlockJournalTest, OfVeryManySomeAreToldLater) {
  const auto many = pairs(12);
  EXPECT_EQ(lines(&many), DeadlockJournal::kLinesPerMinute);
  EXPECT_EQ(lines(&many), 0);
  clock_.advance(std::chrono::minutes(1));
  EXPECT_EQ(lines(&many), DeadlockJournal::kLinesPerMinute);
  clock_.advance(std::chrono::minutes(1));
  EXPECT_EQ(lines(&many), 2);
}

}  // namespace
}  // namespace offcpud
