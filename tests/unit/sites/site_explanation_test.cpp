// SPDX-License-Identifier: Apache-2.0
#include "sites/site_explanation.h"

#include <gtest/gtest.h>

#include <vector>

#include "offcpud.h"
#include "support/rules_of.h"

namespace offcpud {
namespace {

class SiteExplanations : public testing::Test {
 protected:
  static std::shared_ptr<const SiteRules> rules() {
    return test::rules_of(
        "sites:\n"
        "- {name: lock-of-app, for: lock, exe: app, match: '... < a::wait < ... < a::lock'}\n"
        "- {name: pair, for: lock, match: '... < a::lock < a::wait'}\n"
        "- {name: other-app, for: answer, exe: other, match: '... < a::wait'}\n"
        "- {name: by-reason, for: work, reason: pipe, exe: tool}\n"
        "- {name: rest, for: work, match: 'a::wait', kernel: '... < ep_poll'}\n"
        "- {name: joins, for: work, match: 'a::join', interpreted: '... < Pool.join@pool.py'}\n");
  }

  SiteExplanation explain(const std::vector<const char*>& user) {
    user_.clear();
    for (const char* function : user) user_.push_back(matcher_.user_frame(function, ""));
    return explain_site(matcher_, {.exe = matcher_.executable("app"),
                                   .reason = OFFCPUD_BLOCKED_POLL,
                                   .user = user_,
                                   .kernel = kernel_,
                                   .interpreted = interpreted_});
  }

  SiteMatcher matcher_{rules()};
  std::vector<FrameKind> user_;
  std::vector<FrameKind> kernel_ = {matcher_.kernel_frame("do_syscall_64"),
                                    matcher_.kernel_frame("ep_poll")};
  std::vector<FrameKind> interpreted_;
};

TEST_F(SiteExplanations, SayWhichFramesTheRuleLookedFor) {
  const SiteExplanation why = explain({"main", "a::lock", "x::y", "a::wait"});  // root first
  ASSERT_NE(why.rule, nullptr);
  EXPECT_EQ(why.rule->rule.name, "lock-of-app");
  ASSERT_EQ(why.frames.size(), 2U);
  EXPECT_EQ(why.frames[0].frame, 3U);
  EXPECT_EQ(why.frames[0].pattern->text, "a::wait");
  EXPECT_EQ(why.frames[1].frame, 1U);
  EXPECT_FALSE(why.frames[1].kernel);
  EXPECT_TRUE(why.near.empty());
}

TEST_F(SiteExplanations, SayWhichRulesLackOneCondition) {
  const SiteExplanation why = explain({"main", "a::wait"});
  ASSERT_NE(why.rule, nullptr);
  EXPECT_EQ(why.rule->rule.name, "rest");
  ASSERT_EQ(why.frames.size(), 2U);
  EXPECT_TRUE(why.frames[1].kernel);
  EXPECT_EQ(why.frames[1].frame, 1U);
  // by-reason lacks both of its conditions.
  ASSERT_EQ(why.near.size(), 3U);
  EXPECT_EQ(why.near[0].rule->rule.name, "lock-of-app");
  EXPECT_EQ(why.near[0].lacks, "match: no frame fits a::lock");
  EXPECT_EQ(why.near[1].rule->rule.name, "pair");
  EXPECT_EQ(why.near[1].lacks, "match: no frame fits a::lock");
  EXPECT_EQ(why.near[2].rule->rule.name, "other-app");
  EXPECT_EQ(why.near[2].lacks, "exe: other");
}

TEST_F(SiteExplanations, SayWhichFunctionOfAnInterpreterTheRuleLookedFor) {
  const SiteExplanation lacks = explain({"main", "a::join"});
  EXPECT_EQ(lacks.rule, nullptr);
  ASSERT_EQ(lacks.near.size(), 3U);
  EXPECT_EQ(lacks.near[2].lacks, "interpreted: no frame fits Pool.join@pool.py");
  for (const char* const shown : {"<module> (a.py)", "Pool.join (pool.py)", "wait (pool.py)"}) {
    interpreted_.push_back(matcher_.interpreted_frame(shown));
  }
  const SiteExplanation why = explain({"main", "a::join"});
  ASSERT_NE(why.rule, nullptr);
  EXPECT_EQ(why.rule->rule.name, "joins");
  ASSERT_EQ(why.frames.size(), 2U);
  EXPECT_EQ(why.frames[1].frame, 1U);
  EXPECT_FALSE(why.frames[1].kernel);
  EXPECT_EQ(why.frames[1].pattern->kind, PatternKind::Interpreted);
}

TEST_F(SiteExplanations, SayThatTheOrderIsAnother) {
  const SiteExplanation why = explain({"a::wait", "x::y", "a::lock"});
  EXPECT_EQ(why.rule, nullptr);
  ASSERT_GE(why.near.size(), 2U);
  EXPECT_EQ(why.near[0].lacks, "match: all are there, but not in this order");
}

}  // namespace
}  // namespace offcpud
