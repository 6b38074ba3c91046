// SPDX-License-Identifier: Apache-2.0
#include "sites/site_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "offcpud.h"
#include "sites/site_rule_keys.h"

namespace offcpud {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<SiteRule> parsed(const std::string& text, const std::string& file = "f.yaml",
                             std::size_t folder = 0) {
  auto rules = parse_site_rules(text, file);
  EXPECT_TRUE(rules) << rules.error().message();
  if (!rules) return {};
  for (SiteRule& rule : *rules) rule.folder = folder;
  return *rules;
}

std::vector<SiteRule> operator+(std::vector<SiteRule> one, const std::vector<SiteRule>& more) {
  one.insert(one.end(), more.begin(), more.end());
  return one;
}

std::vector<std::string> names(const Result<std::shared_ptr<const SiteRules>>& rules) {
  EXPECT_TRUE(rules) << rules.error().message();
  std::vector<std::string> out;
  if (!rules) return out;
  for (const PreparedRule& each : (*rules)->rules()) out.push_back(each.rule.name);
  return out;
}

TEST(SiteRules, ARuleSaysWhatItsFileSays) {
  const auto rules = parsed(
      "# remark\n"
      "level: runtime\n"
      "sites:\n"
      "  - name: gil\n"
      "    for: lock\n"
      "    ask: waker\n"
      "    exe: python* | pypy\n"
      "    reason: condvar|lock | pipe\n"
      "    match: \"... < take_gil_slowly |\n"
      "      take_gil@python*\"\n"
      "    kernel: \"... < futex_wait\"\n"
      "    tested: Python 3.11\n");
  ASSERT_EQ(rules.size(), 1U);
  const SiteRule& rule = rules.front();
  EXPECT_EQ(rule.name, "gil");
  EXPECT_EQ(rule.wait_for, WaitFor::Lock);
  EXPECT_EQ(rule.ask, SiteQuestion::Waker);
  EXPECT_EQ(rule.level, SiteLevel::Runtime);
  EXPECT_EQ(rule.exe.text, "python* | pypy");
  EXPECT_EQ(rule.reasons, 1U << OFFCPUD_BLOCKED_LOCK | 1U << OFFCPUD_BLOCKED_CONDVAR |
                              1U << OFFCPUD_BLOCKED_PIPE);
  EXPECT_EQ(find_setting(site_rule_keys(), "reason")->text(rule), "lock | condvar | pipe");
  EXPECT_EQ(rule.match.text, "... < take_gil_slowly | take_gil@python*");
  EXPECT_EQ(rule.kernel.text, "... < futex_wait");
  EXPECT_EQ(rule.tested, "Python 3.11");
  EXPECT_EQ(rule.place(), "f.yaml:4");
}

TEST(SiteRules, AFileWithoutALevelIsAboutPrograms) {
  const auto rules = parsed("sites: [{name: a, for: work, exe: x}]");
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(rules.front().level, SiteLevel::Program);
  EXPECT_EQ(rules.front().ask, SiteQuestion::None);
  EXPECT_TRUE(parsed("# nothing but a remark\n").empty());
}

TEST(SiteRules, FoldersComeBeforeLevelsAndLevelsBeforeFiles) {
  const auto shipped =
      parsed("level: fallback\nsites: [{name: rest, for: unknown, reason: poll}]", "a.yaml", 1) +
      parsed("level: kernel\nsites: [{name: disk, for: storage, reason: disk}]", "b.yaml", 1) +
      parsed("sites: [{name: p1, for: work, exe: p1}, {name: p2, for: work, exe: p2}]", "c.yaml",
             1);
  const auto own = parsed("level: libc\nsites: [{name: mine, for: work, exe: own}]", "z.yaml", 0);
  EXPECT_THAT(names(SiteRules::make(shipped + own)),
              ElementsAre("mine", "disk", "p1", "p2", "rest"));
}

TEST(SiteRules, RulesOfOneNameAreOneSite) {
  const auto rules = SiteRules::make(
      parsed("sites:\n- {name: a, for: work, exe: x}\n- {name: b, for: lock, exe: y}\n"
             "- {name: a, for: work, exe: z}\n"));
  ASSERT_TRUE(rules);
  ASSERT_EQ((*rules)->sites().size(), 2U);
  EXPECT_EQ((*rules)->sites()[0], (WaitSite{"a", WaitFor::Work}));
  EXPECT_EQ((*rules)->rules()[2].site, 0U);
}

TEST(SiteRules, OwnRulesMayTakeAllThatShippedOnesTook) {
  const auto shipped = parsed("sites: [{name: loop, for: work, exe: app}]", "s.yaml", 1);
  const auto own = parsed("sites: [{name: my-loop, for: answer, exe: app}]", "o.yaml", 0);
  EXPECT_THAT(names(SiteRules::make(shipped + own)), ElementsAre("my-loop", "loop"));
  // In one folder it is a mistake, in another file, too.
  const auto twice =
      SiteRules::make(shipped + parsed("sites: [{name: other, for: work, exe: app}]", "t.yaml", 1));
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message(), HasSubstr("t.yaml:1: sites: other: never takes anything: "
                                                 "loop at s.yaml:1 comes first"));
}

TEST(SiteRules, AnEarlierRuleThatIsWiderLeavesNothing) {
  const auto refused = [](const char* first, const char* second) {
    return !SiteRules::make(parsed("sites: [{name: a, for: work, " + std::string(first) +
                                   "}, {name: b, for: work, " + second + "}]"));
  };
  EXPECT_TRUE(refused("exe: app*", "exe: app1 | app2"));
  EXPECT_TRUE(refused("exe: app", "exe: app, reason: poll"));
  EXPECT_TRUE(refused("reason: poll | pipe", "reason: poll"));
  EXPECT_TRUE(refused("match: '... < a::b'", "match: 'a::b < c::d', kernel: do_poll"));
  EXPECT_FALSE(refused("exe: app1", "exe: app*"));
  EXPECT_FALSE(refused("reason: poll", "exe: app"));
  EXPECT_FALSE(refused("reason: poll", "reason: poll | pipe"));
  EXPECT_FALSE(refused("match: 'a::b'", "match: '... < a::b'"));
  EXPECT_FALSE(refused("exe: app, match: 'a::b'", "match: 'a::b'"));
}

TEST(SiteRules, ThereIsALimit) {
  std::vector<SiteRule> many;
  for (std::size_t i = 0; i <= SiteRules::kMostRules; ++i) {
    SiteRule rule;
    rule.name = "n" + std::to_string(i);
    rule.exe = *FramePattern::parse(rule.name, PatternKind::Exe);
    rule.file = "big.yaml";
    rule.line = i + 1;
    many.push_back(rule);
  }
  const auto rules = SiteRules::make(many);
  ASSERT_FALSE(rules);
  EXPECT_THAT(rules.error().message(), HasSubstr("big.yaml:2001: sites: n2000: is more than the"));
  std::string file = "sites:\n";
  for (std::size_t i = 0; i <= SiteFile::kMostRules; ++i)
    file += "- {name: a, for: work, exe: x}\n";
  const auto parsed_file = parse_site_rules(file, "f.yaml");
  ASSERT_FALSE(parsed_file);
  EXPECT_THAT(parsed_file.error().message(), HasSubstr("f.yaml:502: sites: entry 501: is more"));
}

TEST(WaitFor, OnlySomeAreActionable) {
  EXPECT_TRUE(actionable(WaitFor::Lock));
  EXPECT_TRUE(actionable(WaitFor::Stopped));
  for (const WaitFor idle : {WaitFor::Work, WaitFor::Timer, WaitFor::Unknown}) {
    EXPECT_FALSE(actionable(idle));
  }
}

}  // namespace
}  // namespace offcpud
