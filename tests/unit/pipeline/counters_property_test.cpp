// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "pipeline/pipeline.h"
#include "pipeline/taker.h"
#include "support/fake_clock.h"
#include "support/fake_reading_source.h"
#include "support/temp_tree.h"
#include "support/thread_record.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;

struct Totals {
  std::uint64_t running = 0, preempted = 0, woken = 0, blocked = 0, kept_off = 0;

  friend bool operator==(const Totals&, const Totals&) = default;
};

Totals totals_of(const SubjectSeries& row) {
  Totals totals;
  totals.running = row.running_ns;
  for (const std::uint64_t n : row.preemptions) totals.preempted += n;
  for (const std::uint64_t n : row.wakeups) totals.woken += n;
  for (const BlocksInProgress& blocks : row.in_progress->blocked) totals.blocked += blocks.threads;
  if (row.kept_off) {
    for (const Taker& taker : row.kept_off->takers) totals.kept_off += taker.ns;
  }
  return totals;
}

std::uint64_t runqueue_ns(const SubjectSeries& row) {
  std::uint64_t sum = 0;
  for (const auto kind : {OFFCPUD_RUNQ_WAKEUP, OFFCPUD_RUNQ_PREEMPTED}) {
    if (row.histograms[kind]) sum += row.histograms[kind]->sum_ns;
  }
  return sum;
}

// Cgroups come and go far beyond the limit on rows, under paths that come back; some only sleep.
class Churn {
 public:
  Churn() { EXPECT_TRUE(pipeline_.start()); }

  // One step of time, and the View after it.
  std::shared_ptr<const View> step() {
    for (int i = 0; i < 3; ++i) create(next_++);
    std::vector<offcpud_thread> threads;
    for (const auto& [id, name] : live_) charge(id, threads);
    std::shuffle(live_.begin(), live_.end(), random_);
    while (live_.size() > 25) {
      pipeline_.apply({CgroupChange::Kind::Removed, live_.back().id, 0, ""});
      live_.pop_back();
    }
    charged_.blocked = threads.size();
    kernel_.set_walk(walk_of(std::move(threads)));
    clock_.advance(std::chrono::seconds(random_() % 5));
    const auto sample = pipeline_.read();
    return *pipeline_.attribute(*sample);
  }

  [[nodiscard]] const Totals& charged() const { return charged_; }
  static constexpr std::size_t kRows = 40;

 private:
  struct Cgroup {
    std::uint64_t id;
    std::uint64_t name;
  };

  void create(std::uint64_t id) {
    std::uint64_t name = random_() % 60;
    const auto taken = [&](const Cgroup& cgroup) { return cgroup.name == name; };
    while (std::any_of(live_.begin(), live_.end(), taken)) name = random_() % 60;
    live_.push_back({id, name});
    pipeline_.apply({CgroupChange::Kind::Created, id, tree_.inode("user.slice"),
                     "churn-" + std::to_string(name)});
  }

  void charge(std::uint64_t id, std::vector<offcpud_thread>& threads) {
    threads.push_back(blocked_thread(id, OFFCPUD_BLOCKED_POLL, 1 + random_() % 1'000));
    if (id % 3 == 0) return;  // only sleeps
    const std::uint64_t n = random_() % 4;
    kernel_.run(id, n);
    kernel_.preempt(id, static_cast<offcpud_taker>(random_() % OFFCPUD_TAKERS), n);
    kernel_.wake(id, static_cast<offcpud_waker>(random_() % OFFCPUD_WAKERS), n);
    charged_.running += n;
    charged_.preempted += n;
    charged_.woken += n;
    if (n == 0) return;
    const std::uint64_t ns = random_() % 3'000'000;
    kernel_.keep_off(id, live_[random_() % live_.size()].id, ns);
    kernel_.charge(id, n == 1 ? OFFCPUD_RUNQ_PREEMPTED : OFFCPUD_RUNQ_WAKEUP, ns);
    charged_.kept_off += ns;
  }

  std::mt19937 random_{23};  // NOLINT(cert-msc51-cpp): the same course in every run
  TempTree tree_{{"user.slice/"}};
  FakeClock clock_;
  FakeReadingSource kernel_;
  CgroupDirectory cgroups_{tree_.root()};
  Pipeline pipeline_{kernel_, cgroups_, clock_, {.linger = 30s, .max_series = kRows}};
  std::uint64_t next_ = 1ULL << 40;  // no directory has this inode
  std::vector<Cgroup> live_;
  Totals charged_;
};

TEST(CountersProperty, NothingIsLostDoubledOrTakenBackUnderChurn) {
  Churn churn;
  std::map<std::string, Totals> last;
  for (int step = 0; step < 400; ++step) {
    const auto view = churn.step();
    Totals sum;
    std::map<std::string, Totals> now;
    for (const SubjectSeries& row : view->subjects) {
      const Totals totals = totals_of(row);
      sum.running += totals.running;
      sum.preempted += totals.preempted;
      sum.woken += totals.woken;
      sum.blocked += totals.blocked;
      sum.kept_off += totals.kept_off;
      ASSERT_TRUE(now.emplace(row.labels->cgroup, totals).second) << row.labels->cgroup;
      ASSERT_EQ(totals.kept_off, runqueue_ns(row)) << row.labels->cgroup;
    }
    ASSERT_EQ(sum, churn.charged());
    ASSERT_LE(view->histogram_series, Churn::kRows + 2);
    ASSERT_LE(view->subjects.size(), Churn::kRows + 2);  // "(other)" and "(removed)" always fit
    for (const auto& [path, totals] : now) {
      const auto before = last.find(path);
      if (before == last.end()) continue;
      ASSERT_GE(totals.running, before->second.running) << path;
      ASSERT_GE(totals.preempted, before->second.preempted) << path;
      ASSERT_GE(totals.woken, before->second.woken) << path;
      ASSERT_GE(totals.kept_off, before->second.kept_off) << path;
    }
    last = std::move(now);
  }
}

}  // namespace
}  // namespace offcpud
