// SPDX-License-Identifier: Apache-2.0
// tests/data/wait-sites once more: what evidence of wakers adds to the names. For each stack
// signals.json has the shares of the time that timers ended, that threads ended which wait there
// themselves, and that threads ended which this one had woken last. Waits with these shares are
// given to WakerEvidence; what it then says is compared with the label.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sites/waker_evidence.h"
#include "unit/sites/labelled_stacks.h"

namespace offcpud {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kStart = 9;
// Its threads: the one in question, one that waits there as well, one that was asked, one that is
// both, and one that is neither.
constexpr std::uint32_t kWaiter = 1, kHolder = 2, kAsked = 3, kAskedHolder = 4, kProducer = 5;

double share(const Json& signals, const char* name) {
  const Json& value = signals.at(name);
  return value.is_null() ? 0 : value.get<double>();
}

const char* text(WaitFor wait_for) {
  return kWaitForNames[static_cast<std::size_t>(wait_for)].data();
}

// Two windows of the thread that a stack is of, in a process of its own.
class Windows {
 public:
  Windows(const Json& signals, std::uint32_t process) : process_(process) {
    const double seconds = signals.at("woken_s").get<double>();
    if (seconds <= 0) return;
    const double timer = share(signals, "irq"), rounded = share(signals, "same_site");
    const double holder = std::max(0.0, rounded - 1e-5);  // sums of floats: 0.5 is not above 0.5
    const double asked = std::min(share(signals, "match"), 1 - timer);
    // The data do not say how much of the two is one; here as little as can be.
    const double both = std::max(0.0, timer + holder + asked - 1);
    add(kWaiter, WaitEnd::OwnTimer, 0, timer);
    add(kWaiter, WaitEnd::Thread, kHolder, holder - both);
    add(kWaiter, WaitEnd::Thread, kAsked, asked - both);
    add(kWaiter, WaitEnd::Thread, kAskedHolder, both);
    add(kWaiter, WaitEnd::Thread, kProducer, 1 - timer - holder - asked + both);
    for (const std::uint32_t there : {kHolder, kAskedHolder})
      add(there, WaitEnd::Thread, kProducer, 1);
    for (const std::uint32_t there : {kAsked, kAskedHolder}) {
      add(there, WaitEnd::Thread, kWaiter, 1);
      if (there == kAsked) waits_.back().at.place = 0;
    }
  }

  [[nodiscard]] WaitFor judge(WaitFor by_rule) const {
    WakerEvidence evidence;
    MonotonicTime now{};
    for (int i = 0; i < 2; ++i) evidence.learn(waits_, now += std::chrono::seconds(60));
    return evidence.judge(place(kWaiter), by_rule, now).wait_for;
  }

 private:
  [[nodiscard]] ThreadAtPlace place(std::uint32_t tid) const {
    return {.tgid = process_, .tid = tid, .process_start_ns = kStart, .place = 1};
  }
  void add(std::uint32_t tid, WaitEnd end, std::uint32_t waker, double part) {
    if (part < 1e-6) return;
    waits_.push_back({.at = place(tid),
                      .end = end,
                      .waker_tgid = end == WaitEnd::Thread ? process_ : 0,
                      .waker_tid = waker,
                      .samples = 20,
                      .ns = part * 1e9,
                      .episodes = part * 100});
  }

  std::uint32_t process_;
  std::vector<SeenWaits> waits_;
};

// What was said of stacks, by the number of stacks or by their time.
class Tally {
 public:
  void add(WaitFor truth, WaitFor what, double amount) {
    (what == truth ? right_ : what == WaitFor::Unknown ? unknown_ : wrong_) += amount;
    if (actionable(what)) said_ += amount;
    if (actionable(truth)) true_ += amount;
    if (actionable(what) && actionable(truth)) hits_ += amount;
  }
  [[nodiscard]] double all() const { return right_ + wrong_ + unknown_; }
  [[nodiscard]] double right() const { return right_ / all(); }
  [[nodiscard]] double wrong() const { return wrong_ / all(); }
  [[nodiscard]] double precision() const { return said_ > 0 ? hits_ / said_ : 1; }
  [[nodiscard]] double recall() const { return hits_ / true_; }

 private:
  double right_ = 0, wrong_ = 0, unknown_ = 0, said_ = 0, hits_ = 0, true_ = 0;
};

struct Compared {
  Tally names, evidence;

  void add(WaitFor truth, WaitFor by_rule, WaitFor said, double amount) {
    names.add(truth, by_rule, amount);
    evidence.add(truth, said, amount);
  }
  void print(const char* what) const {
    for (const Tally* tally : {&names, &evidence}) {
      std::printf(
          "%-26s %-8s %7.1f: right %5.1f %%, wrong %4.1f %%; actionable: precision "
          "%5.1f %%, recall %5.1f %%\n",
          what, tally == &names ? "names" : "evidence", tally->all(), 100 * tally->right(),
          100 * tally->wrong(), 100 * tally->precision(), 100 * tally->recall());
    }
  }
};

class LabelledEvidence : public testing::Test {
 protected:
  LabelledEvidence() {
    std::ifstream file(std::string(OFFCPUD_SOURCE_DIR) + "/tests/data/wait-sites/signals.json");
    signals_ = Json::parse(file);
  }
  std::vector<LabelledStack> stacks_ = labelled_stacks();
  std::shared_ptr<const SiteRules> rules_ = shipped_rules();
  SiteMatcher matcher_{rules_};
  Json signals_;
};

TEST_F(LabelledEvidence, OfWakersMakesMoreRightAndLittleWrong) {
  Compared asked_time, asked_stacks, time, stacks;
  std::uint32_t process = 0;
  for (const LabelledStack& each : stacks_) {
    const PreparedRule* rule = matcher_.find(MatchedStack(each.stack, matcher_).wait());
    const WaitFor by_rule = rule == nullptr ? WaitFor::Unknown : rule->rule.wait_for;
    const double seconds = static_cast<double>(each.stack.us) / 1e6;
    WaitFor said = by_rule;
    if (rule != nullptr && rule->rule.ask == SiteQuestion::Waker) {
      said = Windows(signals_.at(each.place), ++process).judge(by_rule);
      asked_time.add(each.label, by_rule, said, seconds);
      asked_stacks.add(each.label, by_rule, said, 1);
      if (said != each.label) {
        std::printf("%s, %.1f s: %s -> %s, by names %s\n", each.place.c_str(), seconds,
                    text(each.label), text(said), text(by_rule));
      }
    }
    time.add(each.label, by_rule, said, seconds);
    stacks.add(each.label, by_rule, said, 1);
  }
  asked_time.print("asking for wakers, seconds");
  asked_stacks.print("asking for wakers, stacks");
  time.print("all, seconds");
  stacks.print("all, stacks");
  EXPECT_GE(asked_time.evidence.right(), 0.86);
  EXPECT_GE(asked_time.evidence.precision(), 0.92);
  EXPECT_GE(asked_time.evidence.recall(), 0.94);
  EXPECT_GE(asked_stacks.evidence.right(), 0.76);
  EXPECT_GE(time.evidence.right(), 0.85);
  EXPECT_GE(time.evidence.precision(), 0.93);
  EXPECT_LE(time.evidence.wrong(), 0.04);
}

}  // namespace
}  // namespace offcpud
