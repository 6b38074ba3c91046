// SPDX-License-Identifier: Apache-2.0
#include "golang/goroutine_report.h"

#include <gmock/gmock.h>

#include "support/fake_clock.h"
#include "unit/golang/fake_go.h"
#include "unit/golang/mapped_go.h"

namespace offcpud {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using testing_go::FakeGo;

class GoroutineReportTest : public testing::Test {
 public:
  Result<GoroutineReport> read() {
    testing_go::map_program(go_, reader_, files_);
    const auto pause = [this](std::chrono::milliseconds length) {
      clock_.advance(length);
      return !between_ || between_();
    };
    return read_goroutines({reader_, files_, go_}, clock_, FakeGo::kTgid, 50, pause);
  }

  FakeGo go_;
  FakeClock clock_;
  test::FakeReader reader_;
  test::FilesInMemory files_;
  std::function<bool()> between_;
};

TEST_F(GoroutineReportTest, HasWhatWaitsNowAndForHowLong) {
  go_.add({.id = 1});
  const std::uint64_t other = go_.add({.id = 2, .reason = FakeGo::kSleep});
  std::uint8_t count = 0;
  between_ = [&] {
    go_.set(other + go_.counter(), ++count);
    return true;
  };
  const auto report = read();
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->pid, FakeGo::kTgid);
  EXPECT_EQ(report->program, "shop");
  EXPECT_EQ(report->version, "go1.19.3");
  EXPECT_EQ(report->took, std::chrono::seconds(1));
  ASSERT_THAT(report->groups.shown, SizeIs(2));
  EXPECT_EQ(report->groups.shown[0].longest, std::chrono::seconds(1));
  EXPECT_EQ(report->groups.shown[1].longest, std::nullopt) << "it ran in between";
}

TEST_F(GoroutineReportTest, EndsWhenNobodyNeedsIt) {
  go_.add({});
  int pauses = 0;
  between_ = [&] {
    ++pauses;
    return false;
  };
  EXPECT_FALSE(read());
  EXPECT_EQ(pauses, 1);
}

TEST_F(GoroutineReportTest, OfAProcessThatEndsMeanwhileSaysSo) {
  go_.add({});
  between_ = [&] {
    go_.set(go_.all(), 0ULL);
    return true;
  };
  const auto report = read();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind(), ErrorKind::NotFound);
  EXPECT_THAT(report.error().message(), HasSubstr("process 7 (shop) has ended"));
}

TEST_F(GoroutineReportTest, StacksThatLeadNowhereAreRefused) {
  for (std::uint64_t id = 0; id < 3; ++id) go_.add({.id = id, .has_root = false});
  go_.add({.id = 3});
  const auto report = read();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind(), ErrorKind::Unsupported);
  EXPECT_THAT(report.error().message(), HasSubstr("their stacks do not lead to where go1.19.3"));
}

TEST_F(GoroutineReportTest, SomeStacksMayBeUnknown) {
  for (std::uint64_t id = 0; id < 4; ++id) go_.add({.id = id, .has_root = id < 2});
  EXPECT_TRUE(read());
}

}  // namespace
}  // namespace offcpud
