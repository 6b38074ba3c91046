// SPDX-License-Identifier: Apache-2.0
// tests/data/wait-sites once more: what evidence of wakers and files adds to the names. For each
// stack signals.json has the shares of the time that timers ended, that threads ended which wait
// there themselves, and that threads ended which this one had woken last. Waits with these shares
// are given to WakerEvidence. It also has samples of the files that the threads were waiting on,
// which by_files() is asked about. What they then say is compared with the label.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "sites/file_evidence.h"
#include "sites/wait_chains.h"
#include "sites/waker_evidence.h"
#include "unit/sites/labelled_stacks.h"
#include "waited.h"

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
  // `timer`: the share that its own timer ends.
  Windows(const Json& signals, double timer, std::uint32_t process) : process_(process) {
    const double seconds = signals.at("woken_s").get<double>();
    if (seconds <= 0) return;
    const double rounded = std::min(share(signals, "same_site"), 1 - timer);
    const double holder = std::max(0.0, rounded - 1e-5);  // sums of floats: 0.5 is not above 0.5
    const double asked = std::min(share(signals, "match"), 1 - timer);
    // The data do not say how much of the two is one; here as little as can be.
    const double both = std::max(0.0, timer + holder + asked - 1);
    add(kWaiter, WaitEnd::OwnTimer, 0, timer);
    add(kWaiter, WaitEnd::Thread, kHolder, holder - both);
    add(kWaiter, WaitEnd::Thread, kAsked, asked - both);
    add(kWaiter, WaitEnd::Thread, kAskedHolder, both);
    add(kWaiter, WaitEnd::Thread, kProducer, 1 - timer - holder - asked + both);
    // The data do not say who wakes the holders there: others that hold the lock.
    for (const std::uint32_t there : {kHolder, kAskedHolder}) {
      add(there, WaitEnd::Thread, kHolder + kAskedHolder - there, 1);
      add(there, WaitEnd::Thread, kProducer, 1);
    }
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

// A sample of what a thread waited on: "epoll:tcp-accepted-self,tcp-listen:to", where the last part
// says that its own timer ended the wait.
struct FileSample {
  std::uint32_t waited_on = 0;
  bool timed_out = false;
};

// Who spoke last if both did within one jiffy, a tie, the data do not say. The kernel's programs
// do.
FileSample file_sample(const std::string& text) {
  static const std::map<std::string, std::uint32_t> kKinds = {
      {"tcp-listen", OFFCPUD_ON_LISTENER},
      {"tcp-accepted-peer", OFFCPUD_ON_ACCEPTED},
      {"tcp-accepted-self", OFFCPUD_ON_ACCEPTED},
      {"tcp-accepted-tie", OFFCPUD_ON_ACCEPTED},
      {"tcp-connected-peer", OFFCPUD_ON_ASKED},
      {"tcp-connected-self", OFFCPUD_ON_HEARD},
      {"tcp-connected-tie", OFFCPUD_ON_ASKED},
      {"unix-accepted", OFFCPUD_ON_ACCEPTED},
      {"unix-connected", OFFCPUD_ON_LINKED},
      {"udpconn", OFFCPUD_ON_LINKED},
      {"pipe", OFFCPUD_ON_PIPE},
      {"eventfd", OFFCPUD_ON_EVENT},
      {"unix-pair", OFFCPUD_ON_OTHER},
      {"signalfd", OFFCPUD_ON_OTHER},
      {"sock", OFFCPUD_ON_OTHER},
      {"inotify", OFFCPUD_ON_OTHER},
      {"unix-listen", OFFCPUD_ON_LISTENER}};
  std::istringstream parts(text);
  std::string call, kinds, end;
  std::getline(parts, call, ':');
  std::getline(parts, kinds, ':');
  std::getline(parts, end);
  FileSample sample{.timed_out = end == "to"};
  std::size_t count = 0;
  std::istringstream names(kinds);
  for (std::string kind; std::getline(names, kind, ','); ++count) {
    sample.waited_on |= kKinds.at(kind);
  }
  if (count == 1) sample.waited_on |= OFFCPUD_ON_ALONE;
  return sample;
}

// What is said of a stack, each of a share of its time.
using Said = std::map<WaitFor, double>;

// As the daemon says it of each block: where files leave it open, wakers may decide.
Said by_files_and_wakers(const Json& signals, SiteQuestion ask, WaitFor by_rule,
                         std::uint32_t process) {
  double all = 0, open = 0, timed_out = 0;
  Said said;
  for (const auto& [text, samples] : signals.at("what").items()) {
    const FileSample sample = file_sample(text);
    const auto count = samples.get<double>();
    all += count;
    if (const auto by = by_files(ask, sample.waited_on)) {
      said[by->wait_for] += count;
    } else {
      open += count;
      if (sample.timed_out) timed_out += count;
    }
  }
  if (all == 0) return {{by_rule, 1.0}};
  if (open > 0) {
    const WaitFor by = Windows(signals, timed_out / open, process).judge(by_rule);
    said[as_asked(ask, {.wait_for = by}, by_rule).wait_for] += open;
  }
  for (auto& [wait_for, share] : said) share /= all;
  return said;
}

// What chains say of a reader of a pipe, by who could write to it and where those were.
WaitFor by_writers(const Json& holders, WaitFor by_wakers) {
  using Awaits = LastingBlock::Awaits;
  std::vector<LastingBlock> blocks = {
      {.tid = 1, .tgid = 1, .awaits = Awaits::Pipe, .verdict = {.wait_for = by_wakers}}};
  for (const auto& holder : holders) {
    const auto text = holder.get<std::string>();
    LastingBlock& reader = blocks.front();
    if (text == "self") reader.is_own_pipe = true;
    if (text == "self" || reader.holder_tgid != 0) continue;
    reader.holder_tgid = 2;
    const std::string call = text.substr(text.find(':') + 1);
    if (call == "wait4") blocks.push_back({.tid = 2, .tgid = 2, .awaits = Awaits::Child});
    if (call == "sleep") {
      blocks.push_back({.tid = 2, .tgid = 2, .verdict = {.wait_for = WaitFor::Timer}});
    }
  }
  follow_chains(blocks);
  return blocks.front().verdict.wait_for;
}

// What most of a stack's time is said to be for.
WaitFor most_of(const Said& said) {
  return std::ranges::max_element(said, {}, &Said::value_type::second)->first;
}

class LabelledEvidence : public testing::Test {
 protected:
  LabelledEvidence() {
    const std::string folder = std::string(OFFCPUD_SOURCE_DIR) + "/tests/data/wait-sites/";
    std::ifstream signals(folder + "signals.json"), pipes(folder + "pipes.json");
    signals_ = Json::parse(signals);
    pipes_ = Json::parse(pipes);
  }
  Said say(const LabelledStack& stack, const PreparedRule* rule, WaitFor by_rule) {
    if (rule != nullptr && rule->rule.ask == SiteQuestion::Child && stack.stack.exe == "bash") {
      return say_of_parent(stack, by_rule);
    }
    if (rule == nullptr || !asks_for_wakers(rule->rule.ask)) return {{by_rule, 1.0}};
    // Of these nothing was recorded but their stacks.
    if (stack.place.starts_with("py-sites.folded:")) return {{by_rule, 1.0}};
    const Json& signals = signals_.at(stack.place);
    ++process_;
    if (rule->rule.ask == SiteQuestion::Waker || rule->rule.ask == SiteQuestion::Handover) {
      return {{Windows(signals, share(signals, "irq"), process_).judge(by_rule), 1.0}};
    }
    Said said = by_files_and_wakers(signals, rule->rule.ask, by_rule, process_);
    if (rule->rule.ask != SiteQuestion::Pipe || !pipes_.contains(stack.place)) return said;
    return {{by_writers(pipes_.at(stack.place), said.begin()->first), 1.0}};
  }

  // Children of a shell are the other programs of its phase that wait for most of its time: such
  // blocks last, so windows follow them. Of other parents the data do not say how long each child
  // lasts; what the rule says stays.
  Said say_of_parent(const LabelledStack& parent, WaitFor by_rule) {
    std::vector<LastingBlock> blocks = {{.tid = 1,
                                         .tgid = 1,
                                         .awaits = LastingBlock::Awaits::Child,
                                         .verdict = {.wait_for = by_rule}}};
    for (const LabelledStack& child : stacks_) {
      if (file_of(child) != file_of(parent) || child.stack.exe == parent.stack.exe) continue;
      if (child.stack.us < parent.stack.us / 2) continue;
      const PreparedRule* rule = rule_of(child);
      if (rule == nullptr || rule->rule.ask == SiteQuestion::Child) continue;
      const auto tid = static_cast<std::uint32_t>(blocks.size() + 1);
      const WaitFor wait_for = most_of(say(child, rule, rule->rule.wait_for));
      blocks.push_back(
          {.tid = tid, .tgid = tid, .parent_tgid = 1, .verdict = {.wait_for = wait_for}});
    }
    follow_chains(blocks);
    return {{blocks.front().verdict.wait_for, 1.0}};
  }
  static std::string file_of(const LabelledStack& stack) {
    return stack.place.substr(0, stack.place.find(':'));
  }
  const PreparedRule* rule_of(const LabelledStack& stack) {
    return matcher_.find(MatchedStack(stack.stack, matcher_).wait());
  }

  std::vector<LabelledStack> stacks_ = labelled_stacks();
  std::shared_ptr<const SiteRules> rules_ = shipped_rules();
  SiteMatcher matcher_{rules_};
  Json signals_, pipes_;
  std::uint32_t process_ = 0;
};

TEST_F(LabelledEvidence, MakesMoreRightAndLittleWrong) {
  std::map<SiteQuestion, Compared> asked_time;
  Compared time, stacks;
  for (const LabelledStack& each : stacks_) {
    if (!each.of_study) continue;
    const PreparedRule* rule = rule_of(each);
    const WaitFor by_rule = rule == nullptr ? WaitFor::Unknown : rule->rule.wait_for;
    SiteQuestion ask = rule == nullptr ? SiteQuestion::None : rule->rule.ask;
    if (ask == SiteQuestion::Handover) ask = SiteQuestion::Waker;  // the data are the same
    const double seconds = static_cast<double>(each.stack.us) / 1e6;
    for (const auto& [said, part] : say(each, rule, by_rule)) {
      asked_time[ask].add(each.label, by_rule, said, seconds * part);
      time.add(each.label, by_rule, said, seconds * part);
      stacks.add(each.label, by_rule, said, part);
      if (said == each.label) continue;
      std::printf("%s asks %s, %.1f s: %s -> %s, by names %s\n", each.place.c_str(),
                  std::string(name_of(ask)).c_str(), seconds * part, text(each.label), text(said),
                  text(by_rule));
    }
  }
  for (const auto& [ask, compared] : asked_time) {
    compared.print(("asking: " + std::string(name_of(ask))).c_str());
  }
  time.print("all, seconds");
  stacks.print("all, stacks");
  EXPECT_GE(asked_time[SiteQuestion::Waker].evidence.right(), 0.86);
  EXPECT_GE(asked_time[SiteQuestion::Waker].evidence.precision(), 0.92);
  EXPECT_GE(asked_time[SiteQuestion::Waker].evidence.recall(), 0.94);
  EXPECT_GE(asked_time[SiteQuestion::Socket].evidence.right(), 0.78);
  EXPECT_GE(asked_time[SiteQuestion::Fds].evidence.right(), 0.77);
  EXPECT_GE(asked_time[SiteQuestion::Pipe].evidence.right(), 0.99);
  EXPECT_GE(asked_time[SiteQuestion::Child].evidence.right(), 0.84);
  EXPECT_GE(time.evidence.right(), 0.945);
  EXPECT_GE(time.evidence.precision(), 0.93);
  EXPECT_GE(time.evidence.recall(), 0.935);
  EXPECT_LE(time.evidence.wrong(), 0.041);
}

}  // namespace
}  // namespace offcpud
