// SPDX-License-Identifier: Apache-2.0
#include "pipeline/past_view.h"

#include <gtest/gtest.h>

#include "pipeline/site_history.h"
#include "pipeline/stall.h"
#include "pipeline/taker.h"
#include "pipeline/wait_history.h"
#include "pipeline/waited_on.h"
#include "support/times.h"
#include "unit/pipeline/short_names.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::kNow;
using test::labels;

// Steps end at 910 s, 920 s, ... 1000 s, which is now; other windows three seconds earlier.
class PastView : public ::testing::Test {
 protected:
  PastView() {
    view_.taken = MonotonicTime(1'000s);
    view_.taken_wall = kNow;
    view_.stalls = std::make_shared<StallList>();
    view_.waits = std::make_shared<WaitWindow>();
    view_.processes.emplace_back();
    for (auto end = 910s; end <= 1'000s; end += 10s) {
      auto step = std::make_shared<WaitStep>();
      step->begin = MonotonicTime(end - 10s);
      step->end = MonotonicTime(end);
      view_.history.push_back(step);
      auto sites = std::make_shared<SiteWindow>();
      sites->begin = MonotonicTime(end - 13s);
      sites->end = MonotonicTime(end - 3s);
      view_.site_history.push_back(sites);
      auto peers = std::make_shared<PeerWindow>();
      peers->begin = sites->begin;
      peers->end = sites->end;
      view_.peer_history.push_back(peers);
      view_.kept_off_steps.push_back(kept_off_by(MonotonicTime(end), end.count()));
    }
    SubjectSeries row{.labels = labels("/a")};
    row.kept_off = view_.kept_off_steps.back()->rows[0].kept_off;
    auto in_progress = std::make_shared<WaitsInProgress>();
    in_progress->open[OFFCPUD_BLOCKED_KERNEL] = {.threads = 9, .uncounted = 1, .for_work = 4};
    in_progress->blocked[OFFCPUD_BLOCKED_LOCK] = {.threads = 2, .oldest = {.ns = 5}};
    row.in_progress = in_progress;
    row.deadlocked = 2;
    view_.subjects.push_back(row);
  }

  static std::shared_ptr<const KeptOffStep> kept_off_by(MonotonicTime taken, std::int64_t ns) {
    auto kept_off = std::make_shared<KeptOff>();
    kept_off->takers = {{labels("/b"), static_cast<std::uint64_t>(ns)}};
    auto step = std::make_shared<KeptOffStep>();
    step->taken = taken;
    step->rows = {{labels("/a"), kept_off}};
    return step;
  }

  View view_;
};

TEST_F(PastView, WindowsEndWithTheStepThatIsNearest) {
  for (const auto ago : {36s, 40s, 44s}) {
    const View then = view_until(view_, kNow - ago);
    EXPECT_EQ(then.taken, MonotonicTime(960s)) << ago.count();
    EXPECT_EQ(then.taken_wall, kNow - 40s);
    ASSERT_EQ(then.history.size(), 6U);
    EXPECT_EQ(then.history.back()->end, MonotonicTime(960s));
    EXPECT_EQ(then.site_history.back()->end, MonotonicTime(957s));
    EXPECT_EQ(then.peer_history.back()->end, MonotonicTime(957s));
    EXPECT_EQ(then.kept_off_steps.back()->taken, MonotonicTime(960s));
  }
}

TEST_F(PastView, WhoKeptWhomOffIsThatOfThen) {
  const View then = view_until(view_, kNow - 40s);
  const KeptOffWindow window = kept_off_within(then, "/a", 20s);
  EXPECT_EQ(window.length, 20s);
  ASSERT_EQ(window.takers.size(), 1U);
  EXPECT_EQ(window.takers[0].ns, 20U);
}

TEST_F(PastView, NothingIsInProgressThen) {
  const View then = view_until(view_, kNow - 40s);
  EXPECT_EQ(then.waits, nullptr);
  EXPECT_TRUE(then.processes.empty());
  ASSERT_EQ(then.subjects.size(), 1U);
  const WaitsInProgress& open = *then.subjects[0].in_progress;
  EXPECT_EQ(open.blocked[OFFCPUD_BLOCKED_LOCK].threads, 0U);
  EXPECT_EQ(open.open[OFFCPUD_BLOCKED_KERNEL].threads, 4U);
  EXPECT_EQ(open.open[OFFCPUD_BLOCKED_KERNEL].for_work, 4U) << "who is a worker is still known";
  EXPECT_EQ(then.subjects[0].deadlocked, 0U);
}

TEST_F(PastView, BeforeWhatIsKeptNothingIsKnown) {
  const View then = view_until(view_, kNow - 1h);
  EXPECT_EQ(then.taken_wall, kNow - 1h);
  EXPECT_TRUE(then.history.empty());
  EXPECT_TRUE(then.site_history.empty());
  EXPECT_TRUE(then.kept_off_steps.empty());
  EXPECT_EQ(then.subjects[0].kept_off, nullptr);
}

TEST_F(PastView, ATimeToComeIsNow) {
  const View then = view_until(view_, kNow + 1h);
  EXPECT_EQ(then.taken, view_.taken);
  EXPECT_EQ(then.history.size(), view_.history.size());
}

}  // namespace
}  // namespace offcpud
