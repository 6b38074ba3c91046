// SPDX-License-Identifier: Apache-2.0
#include "ctl/explain_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temp_tree.h"

namespace offcpud {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kRules =
    "sites:\n"
    "- {name: app-lock, for: lock, match: '... < acquire_lock_of_app | take_lock_of_app'}\n"
    "- {name: app-lock, for: lock, exe: app, match: '... < a::wait'}\n";
constexpr const char* kFallback =
    "level: fallback\nsites:\n- {name: sockets, for: unknown, ask: socket, reason: network}\n";

// A heavier stack that a fallback takes, one that a rule takes, in two lines, and one of nobody.
constexpr const char* kStacks =
    "lock|app;main{app};take_lock_of_app{app};futex{libc.so.6};do_futex_[k] 1000000\n"
    "network|tool;main{tool};a::wait{tool};recv{libc.so.6} 3000000\n"
    "lock|app;main{app};take_lock_of_app{app};futex{libc.so.6};do_futex_[k] 500000\n"
    "evil\x1b[2J;x;y 1\n";

class ExplainProgram : public testing::Test {
 protected:
  std::string explain(ExplainRequest request, const std::string& stacks = kStacks) {
    request.rules = {(tree_.root() / "rules").native()};
    tree_.put({{"stacks", stacks}});
    request.file = (tree_.root() / "stacks").native();
    auto text = explain_stacks(request);
    EXPECT_TRUE(text) << text.error().message();
    if (!text) return {};
    const std::string folder = request.rules.front() + "/";
    for (auto at = text->find(folder); at != std::string::npos; at = text->find(folder)) {
      text->erase(at, folder.size());
    }
    return *text;
  }

  TempTree tree_{{"rules/app.yaml", kRules}, {"rules/rest.yaml", kFallback}};
};

TEST_F(ExplainProgram, SaysWhichRuleTakesEachStack) {
  EXPECT_EQ(explain({}),
            "3 s  tool  network\n"
            "  unknown, unless evidence says more (ask: socket): sockets, rest.yaml:3\n"
            "      recv in libc.so.6\n"
            "      a::wait in tool\n"
            "      main in tool\n"
            "\n"
            "1.5 s  app  lock\n"
            "  lock: app-lock, app.yaml:2\n"
            "      futex in libc.so.6\n"
            "    > take_lock_of_app in app                       fits take_lock_of_app\n"
            "      main in app\n"
            "\n"
            "1 us  evil\\x1b[2J  reason not known\n"
            "  unknown: no rule takes it\n"
            "      y\n"
            "      x\n"
            "\n"
            "lock              1.5 s   33.3 %\n"
            "unknown             3 s   66.7 %\n");
}

// Functions of Python stand among those of the program, and rules see them apart.
TEST_F(ExplainProgram, ShowsTheFunctionsOfPythonThatARuleLookedFor) {
  tree_.put({{"rules/python.yaml",
              "sites:\n- {name: app-join, for: answer, match: 'take_lock_of_python',"
              " interpreted: 'wait@threading.py < ... < pay@shop/*'}\n"}});
  const std::string text =
      explain({},
              "condvar|python3;main{python3};pay (shop/till.py){[python]};call{python3};"
              "wait (threading.py){[python]};take_lock_of_python{python3} 1000000\n");
  EXPECT_THAT(text, HasSubstr("  answer: app-join, python.yaml:2\n"
                              "    > take_lock_of_python in python3"));
  EXPECT_THAT(text, HasSubstr("    > wait (threading.py)  "));
  EXPECT_THAT(text, HasSubstr("  fits wait@threading.py\n      call in python3\n"
                              "    > pay (shop/till.py)  "));
  EXPECT_THAT(text, HasSubstr("  fits pay@shop/*\n      main in python3\n"));
}

TEST_F(ExplainProgram, UnmatchedIsWhatOnlyAFallbackTakes) {
  const std::string text = explain({.unmatched = true});
  EXPECT_THAT(text, HasSubstr("3 s  tool"));
  EXPECT_THAT(text, HasSubstr("no rule takes it"));
  EXPECT_THAT(text, Not(HasSubstr("app-lock")));
}

TEST_F(ExplainProgram, VerboseNamesTheRulesThatLackOneCondition) {
  EXPECT_THAT(explain({.verbose = true}),
              HasSubstr("  nearly lock: app-lock, app.yaml:3; exe: app\n"));
}

TEST_F(ExplainProgram, LabelsAreShown) {
  EXPECT_THAT(explain({}, "timer;p;q;sleep|app;main{app} 1\n"),
              HasSubstr("app  sleep  labelled timer\n"));
}

TEST_F(ExplainProgram, SaysWhatIsMissing) {
  ExplainRequest request{.rules = {(tree_.root() / "none").native()}};
  EXPECT_THAT(explain_stacks(request).error().message(), HasSubstr("there are no rules in"));
  request = {.rules = {(tree_.root() / "rules").native()}, .file = "/nonexistent/stacks"};
  const auto missing = explain_stacks(request);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind(), ErrorKind::NotFound);
  tree_.put({{"bad", "app;main\n"}});
  request.file = (tree_.root() / "bad").native();
  EXPECT_THAT(explain_stacks(request).error().message(), HasSubstr("/bad: neither JSON of "));
}

}  // namespace
}  // namespace offcpud
