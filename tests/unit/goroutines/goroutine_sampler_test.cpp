// SPDX-License-Identifier: Apache-2.0
#include "goroutines/goroutine_sampler.h"

#include <gmock/gmock.h>

#include "support/fake_clock.h"
#include "support/rules_of.h"
#include "unit/golang/fake_go.h"
#include "unit/golang/mapped_go.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing_go::FakeGo;

constexpr const char* kRuleOfWorkers =
    "sites:\n"
    "  - name: worker\n"
    "    for: work\n"
    "    goroutine: chan receive\n";
constexpr const char* kCgroup = "/system.slice/shop.service";

// A host with one Go program, process 7, and others that are none. Each look costs `cost_` of CPU
// time, and as much time.
class GoroutineSamplerTest : public testing::Test {
 public:
  GoroutineSamplerTest() {
    add_process(FakeGo::kTgid, "shop");
    testing_go::map_program(go_, reader_, files_);
    go_.before = [this](const MemoryPiece& piece) {
      if (piece.address != go_.list()) return;
      ++looks_;
      cpu_ += cost_;
      clock_.advance(cost_);
    };
  }
  void add_process(std::uint32_t pid, const std::string& comm) {
    auto view = view_ ? std::make_shared<View>(*view_) : std::make_shared<View>();
    ProcessRow row;
    row.pid = pid;
    row.start_ns = 1'000 + pid;
    row.comm = comm;
    row.labels = std::make_shared<const SubjectLabels>(labels_of_cgroup(kCgroup));
    view->processes.push_back(row);
    view_ = view;
  }
  GoroutineSampler& start(const GoroutineOptions& options = {}) {
    return sampler_.emplace(
        GoroutineSampler::Sources{.processes = reader_,
                                  .files = files_,
                                  .memory = go_,
                                  .clock = clock_,
                                  .sites = sites_,
                                  .view = [this] { return view_; },
                                  .cpu = [this] { return cpu_; }},
        GoroutineSampler::Reports{
            .window = [this](auto window) { windows_.push_back(std::move(window)); },
            .totals = [this](const GoroutineTotals& totals) { totals_ = totals; },
            .refused = [this](const std::string& text) { refused_.push_back(text); }},
        options);
  }
  void run(std::chrono::nanoseconds length) {
    const MonotonicTime end = clock_.now() + length;
    while (clock_.now() < end) {
      const MonotonicTime next = sampler_->work();
      if (next > clock_.now()) clock_.advance(std::min(next, end) - clock_.now());
    }
  }
  double seconds() const {
    double ns = 0;
    for (const auto& window : windows_) {
      for (const GoroutineWaits& waits : window->waits) ns += waits.ns;
    }
    return ns * 1e-9;
  }

  FakeGo go_;
  FakeClock clock_;
  test::FakeReader reader_;
  test::FilesInMemory files_;
  SiteRulesBoard sites_{test::rules_of(kRuleOfWorkers)};
  std::shared_ptr<const View> view_;
  std::chrono::nanoseconds cpu_{0}, cost_{100'000};
  int looks_ = 0;
  std::vector<std::shared_ptr<const GoroutineWindow>> windows_;
  GoroutineTotals totals_;
  std::vector<std::string> refused_;
  std::optional<GoroutineSampler> sampler_;
};

TEST_F(GoroutineSamplerTest, SumsWhatGoroutinesOfGoProgramsWaitFor) {
  for (std::uint64_t id = 0; id < 3; ++id) go_.add({.id = id});
  add_process(8, "sh");
  start();
  run(101s);
  ASSERT_THAT(windows_, SizeIs(10));
  EXPECT_NEAR(seconds(), 3 * 100, 6) << "but for the time before the first look";
  const GoroutineWaits& waits = windows_.back()->waits.at(0);
  EXPECT_EQ(waits.pid, FakeGo::kTgid);
  EXPECT_EQ(waits.process_start_ns, 1'007U);
  EXPECT_EQ(waits.cgroup, kCgroup);
  EXPECT_EQ(waits.site, "worker");
  EXPECT_EQ(waits.now, 3);
  EXPECT_GE(waits.longest_ns, 95'000'000'000U);
  EXPECT_NEAR(looks_, 100, 3);
  EXPECT_EQ(totals_.programs, 1U);
  EXPECT_NEAR(static_cast<double>(totals_.looks), 100, 3);
  EXPECT_EQ(totals_.skipped_looks, 0U);
  EXPECT_EQ(totals_.left_out, 0U);
  EXPECT_THAT(totals_.failures, ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(reader_.asked, testing::Contains(8U).Times(1)) << "it is no Go program";
}

// A program whose rhythm is that of the looks: each goroutine waits in the same half of each
// second.
TEST_F(GoroutineSamplerTest, LooksAtRandomMoments) {
  const std::uint64_t goroutine = go_.add({.id = 1});
  const auto list_is_read = go_.before;
  go_.before = [&](const MemoryPiece& piece) {
    const bool waits = ns_of(clock_.now()) % 1'000'000'000 < 500'000'000;
    if (piece.address == go_.list()) {
      go_.set(goroutine + go_.layout().status, std::uint32_t{waits ? 4U : 2U});
    }
    list_is_read(piece);
  };
  start();
  run(2'000s);
  EXPECT_NEAR(seconds(), 1'000, 60) << "three standard deviations are 45 s";
}

TEST_F(GoroutineSamplerTest, SpendsNoMoreThanItMayAndSaysWhatItSkips) {
  for (std::uint64_t id = 0; id < 3; ++id) go_.add({.id = id});
  cost_ = 50ms;
  start({.cpu_budget = 10ms});
  run(1'000s);
  EXPECT_LE(in_seconds(cpu_), 10 + 0.2);
  EXPECT_GE(looks_, 190);
  EXPECT_NEAR(seconds(), 3 * 1'000, 60) << "rare looks stand for more time";
  EXPECT_NEAR(static_cast<double>(totals_.looks + totals_.skipped_looks), 1'000, 150);
  EXPECT_NEAR(in_seconds(totals_.cpu), in_seconds(cpu_), 0.2);
}

TEST_F(GoroutineSamplerTest, AProcessThatEndsKeepsWhatItWaited) {
  go_.add({.id = 1});
  start();
  run(5s);
  view_ = std::make_shared<View>();
  run(6s);
  ASSERT_THAT(windows_, SizeIs(1));
  EXPECT_NEAR(seconds(), 4.5, 2);
  EXPECT_EQ(totals_.programs, 0U);
}

TEST_F(GoroutineSamplerTest, WhoBeginsAnotherProgramIsLookedAtAgain) {
  go_.add({.id = 1});
  const auto maps = std::exchange(reader_.existing[FakeGo::kTgid].maps, {});
  start();
  run(20s);
  EXPECT_EQ(totals_.programs, 0U);
  reader_.existing[FakeGo::kTgid].maps = maps;
  run(20s);
  EXPECT_EQ(totals_.programs, 0U) << "nothing says that it changed";
  auto view = std::make_shared<View>(*view_);
  view->processes[0].comm = "shop-2";
  view_ = view;
  run(1s);
  view_ = std::make_shared<View>(*view_);
  run(12s);
  EXPECT_EQ(totals_.programs, 1U);
}

TEST_F(GoroutineSamplerTest, AVersionThatIsNotKnownIsToldAndCounted) {
  FakeGo other({.version = "go1.99"});
  files_.files["/srv/shop"] = other.image();
  auto& sampler = sampler_.emplace(
      GoroutineSampler::Sources{.processes = reader_,
                                .files = files_,
                                .memory = other,
                                .clock = clock_,
                                .sites = sites_,
                                .view = [this] { return view_; },
                                .cpu = [this] { return cpu_; }},
      GoroutineSampler::Reports{
          .window = {},
          .totals = [this](const GoroutineTotals& totals) { totals_ = totals; },
          .refused = [this](const std::string& text) { refused_.push_back(text); }},
      GoroutineOptions());
  (void)sampler;
  run(30s);
  ASSERT_THAT(refused_, SizeIs(1));
  EXPECT_THAT(refused_[0], HasSubstr("go1.99"));
  EXPECT_EQ(totals_.failures[static_cast<std::size_t>(GoroutineFailure::Version)], 1U);
}

TEST_F(GoroutineSamplerTest, WhoHasNoAnswerIsAskedAgainAfterAMinute) {
  go_.add({.id = 1});
  reader_.late.insert(FakeGo::kTgid);
  start();
  run(50s);
  EXPECT_EQ(totals_.failures[static_cast<std::size_t>(GoroutineFailure::Unreadable)], 1U);
  reader_.late.clear();
  view_ = std::make_shared<View>(*view_);
  run(15s);
  view_ = std::make_shared<View>(*view_);
  run(15s);
  EXPECT_EQ(totals_.programs, 1U);
}

TEST_F(GoroutineSamplerTest, CanBeTurnedOffAndOn) {
  go_.add({.id = 1});
  start();
  run(15s);
  ASSERT_GT(looks_, 5);
  sampler_->set_options({.enabled = false});
  run(1s);
  const int looks = looks_;
  run(30s);
  EXPECT_EQ(looks_, looks);
  sampler_->set_options({});
  run(15s);
  EXPECT_GT(looks_, looks + 5);
}

}  // namespace
}  // namespace offcpud
