// SPDX-License-Identifier: Apache-2.0
#include "sites/wait_classifier.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/interpreted_name.h"
#include "offcpud.h"
#include "sites/site_rules_board.h"
#include "support/rules_of.h"
#include "unit/sites/labelled_stacks.h"

namespace offcpud {
namespace {

using test::rules_of;

constexpr const char* kRules = R"(
sites:
  - {name: shop-pool, for: lock, match: "... < shop::acquire"}
  - {name: shop-child, for: answer, ask: child, reason: child}
)";

WaitClass classify(WaitClassifier& classifier, std::string_view function,
                   std::size_t reason = OFFCPUD_BLOCKED_POLL) {
  const std::array<SiteFrame, 2> user = {{{"main", "shopd"}, {function, "shopd"}}};
  const std::array<SiteFrame, 1> kernel = {{{"do_syscall_64", ""}}};
  return classifier.classify("shopd", reason, user, kernel);
}

TEST(WaitClassifier, SaysSiteAndWhatItIsFor) {
  WaitClassifier classifier(rules_of(kRules));
  EXPECT_EQ(classify(classifier, "shop::acquire"),
            (WaitClass{.wait_for = WaitFor::Lock, .site = "shop-pool", .certain = true}));
  EXPECT_EQ(classify(classifier, "shop::other"), WaitClass{});
}

TEST(WaitClassifier, WhatARuleWouldAskForIsNotCertain) {
  WaitClassifier classifier(rules_of(kRules));
  EXPECT_EQ(
      classify(classifier, "shop::spawn", OFFCPUD_BLOCKED_CHILD),
      (WaitClass{.wait_for = WaitFor::Answer, .site = "shop-child", .ask = SiteQuestion::Child}));
}

TEST(WaitClassifier, MatchesEachStackOnce) {
  WaitClassifier classifier(rules_of(kRules));
  for (int i = 0; i < 100; ++i) {
    (void)classify(classifier, "shop::acquire");
    (void)classify(classifier, "shop::spawn", OFFCPUD_BLOCKED_CHILD);
  }
  EXPECT_EQ(classifier.work().waits, 200U);
  EXPECT_EQ(classifier.work().matched, 2U);
  EXPECT_EQ(classifier.work().names, 5U);  // three functions, one of the kernel, one executable
  EXPECT_EQ(classifier.work().forgotten, 0U);
}

// Kernel frames are not taken for frames of the program, nor the length of one for a frame.
TEST(WaitClassifier, KeepsStacksApartThatDifferInTheirSplitOnly) {
  WaitClassifier classifier(
      rules_of("sites: [{name: a, for: lock, match: '... < shop::acquire'}]"));
  const FrameKind frame = classifier.user_frame({"shop::acquire", "shopd"});
  const std::vector<FrameKind> two = {frame, frame}, one = {frame};
  EXPECT_EQ(classifier.classify({.user = two, .kernel = {}}).site, "a");
  EXPECT_EQ(classifier.classify({.user = one, .kernel = one}).site, "a");
  EXPECT_EQ(classifier.classify({.user = {}, .kernel = two}).site, "");
  EXPECT_EQ(classifier.work().matched, 3U);
}

// A stack is remembered with and without the functions that an interpreter runs in it.
TEST(WaitClassifier, KeepsStacksApartThatDifferInInterpretedFunctionsOnly) {
  WaitClassifier classifier(
      rules_of("sites: [{name: a, for: work, interpreted: 'Queue.get@queue.py'}]"));
  const std::array<SiteFrame, 1> user = {{{"wait", "python3"}}};
  const std::array<std::string_view, 1> takes = {"Queue.get (queue.py)"}, other = {"pay (till.py)"};
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(classifier.classify("app", OFFCPUD_BLOCKED_POLL, user, {}).site, "");
    EXPECT_EQ(classifier.classify("app", OFFCPUD_BLOCKED_POLL, user, {}, takes).site, "a");
    EXPECT_EQ(classifier.classify("app", OFFCPUD_BLOCKED_POLL, user, {}, other).site, "");
  }
  const FrameKind frame = classifier.interpreted_frame(takes[0]);
  const std::vector<FrameKind> one = {frame};
  EXPECT_EQ(classifier.classify({.user = {}, .kernel = one}).site, "") << "of the kernel";
  EXPECT_EQ(classifier.classify({.user = {}, .kernel = {}, .interpreted = one}).site, "a");
}

TEST(WaitClassifier, ForgetsStacksForLackOfRoomAndStillKnowsThem) {
  std::string text = "sites:\n";
  for (int i = 0; i < 100; ++i) {
    const std::string n = std::to_string(i);
    text.append("  - {name: s").append(n).append(", for: lock, match: '... < shop::f");
    text.append(n).append("'}\n");
  }
  constexpr std::size_t kRoom = 1'024;
  WaitClassifier classifier(rules_of(text), kRoom);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 100; ++i) {
      const std::string n = std::to_string(i);
      EXPECT_EQ(classify(classifier, "shop::f" + n).site, "s" + n);
    }
  }
  EXPECT_GT(classifier.work().forgotten, 150U);
  EXPECT_EQ(classifier.work().matched, 200U);
}

TEST(WaitClassifier, TakesNewRulesAndForgetsWhatTheOldOnesSaid) {
  SiteRulesBoard board(rules_of(kRules));
  WaitClassifier classifier(board.rules());
  EXPECT_EQ(classify(classifier, "shop::acquire").site, "shop-pool");

  board.publish(rules_of("sites: [{name: b, for: answer, match: '... < shop::acquire'}]"));
  classifier.use(board.rules());
  EXPECT_EQ(classify(classifier, "shop::acquire"),
            (WaitClass{.wait_for = WaitFor::Answer, .site = "b", .certain = true}));
  EXPECT_EQ(classifier.rules().rules().size(), 1U);

  const ClassifierWork before = classifier.work();
  EXPECT_EQ(before.matched, 2U);
  classifier.use(board.rules());  // the same: it forgets nothing
  (void)classify(classifier, "shop::acquire");
  EXPECT_EQ(classifier.work().matched, before.matched);
  EXPECT_EQ(classifier.work().names, before.names);
}

// It must say of every recorded stack what the matcher says, the first time and from memory.
TEST(WaitClassifier, SaysWhatTheMatcherSays) {
  const auto rules = shipped_rules();
  SiteMatcher matcher(rules);
  WaitClassifier classifier(rules);
  const auto stacks = labelled_stacks();
  ASSERT_GT(stacks.size(), 300U);
  for (int round = 0; round < 2; ++round) {
    for (const LabelledStack& each : stacks) {
      const auto* const rule = matcher.find(MatchedStack(each.stack, matcher).wait());
      std::vector<SiteFrame> user, kernel;
      std::vector<std::string_view> interpreted;
      for (const auto& frame : each.stack.user) {
        user.push_back({frame.function, frame.object});
        if (frame.object == kInterpretedObject) interpreted.emplace_back(frame.function);
      }
      for (const auto& frame : each.stack.kernel) kernel.push_back({frame.function, frame.object});
      const WaitClass said =
          classifier.classify(each.stack.exe, each.stack.reason.value(), user, kernel, interpreted);
      EXPECT_EQ(said.site, rule == nullptr ? "" : rule->rule.name);
      EXPECT_EQ(said.wait_for, rule == nullptr ? WaitFor::Unknown : rule->rule.wait_for);
    }
  }
  EXPECT_LE(classifier.work().matched, stacks.size());
}

}  // namespace
}  // namespace offcpud
