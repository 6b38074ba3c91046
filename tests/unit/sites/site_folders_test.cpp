// SPDX-License-Identifier: Apache-2.0
#include "sites/site_folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "support/temp_tree.h"

namespace offcpud {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

TEST(SiteFolders, AllFilesOfAllFoldersAreRead) {
  const TempTree tree({{"own/z.yaml", "sites: [{name: mine, for: work, exe: a}]"},
                       {"shipped/a.yaml", "sites: [{name: b, for: work, exe: b}]"},
                       {"shipped/b.yaml", "sites: [{name: c, for: work, exe: c}]"},
                       {"shipped/.hidden.yaml", "not: rules"},
                       {"shipped/README", "no rules"}});
  const std::array folders = {tree.root() / "own", tree.root() / "shipped", tree.root() / "none"};
  const auto rules = load_site_rules(folders);
  ASSERT_TRUE(rules) << rules.error().message();
  ASSERT_EQ((*rules)->rules().size(), 3U);
  EXPECT_EQ((*rules)->rules()[0].rule.name, "mine");
  EXPECT_THAT((*rules)->rules()[2].rule.place(), EndsWith("/shipped/b.yaml:1"));
}

TEST(SiteFolders, WhatIsNoFolderOrNoTextIsAnError) {
  const TempTree tree({{"file", "x"}, {"empty/a.yaml", " \n"}, {"binary/a.yaml", "a: \x01\n"}});
  for (const char* name : {"file", "empty", "binary"}) {
    const std::array folders = {tree.root() / name};
    const auto rules = load_site_rules(folders);
    ASSERT_FALSE(rules) << name;
    EXPECT_THAT(rules.error().message(), HasSubstr(name));
  }
  const std::array empty = {tree.root() / "empty"};
  EXPECT_THAT(load_site_rules(empty).error().message(), HasSubstr("or write rules into it"));
}

TEST(SiteFolders, ShippedRulesAreBesideTheProgram) {
  EXPECT_THAT(shipped_site_rules().native(), EndsWith("/share/offcpud/wait-sites"));
  ASSERT_EQ(site_rule_folders().size(), 2U);
  EXPECT_EQ(site_rule_folders()[0], "/etc/offcpud/wait-sites");
  EXPECT_EQ(site_rule_folders()[1], shipped_site_rules());
  EXPECT_EQ(site_rule_folders("/srv/o/offcpud.yaml")[0], "/srv/o/wait-sites");
  // Of the tree, for programs that are not installed.
  const auto rules = load_site_rules(std::array{shipped_site_rules()});
  ASSERT_TRUE(rules) << rules.error().message();
  EXPECT_GT((*rules)->rules().size(), 100U);
}

// A configuration file of the tree stands beside the rules of the tree.
TEST(SiteFolders, AFolderIsReadOnce) {
  const auto folders =
      site_rule_folders(std::filesystem::path(OFFCPUD_SOURCE_DIR) / "config/offcpud.yaml");
  EXPECT_THAT(folders, ElementsAre(shipped_site_rules()));
}

TEST(SiteFolders, TheTextSaysHowManyThereAreAndWhere) {
  const TempTree tree({{"own/z.yaml",
                        "sites: [{name: a, for: work, exe: a}, {name: a, for: work, exe: b}, "
                        "{name: b, for: lock, exe: c}]"}});
  const std::array folders = {tree.root() / "own"};
  const std::string where = folders[0].native();
  EXPECT_EQ(site_rules_text(**load_site_rules(folders), folders),
            "3 rules for 2 sites in " + where);
  EXPECT_EQ(site_rules_text(**SiteRules::make({}), folders), "there are no rules in " + where);
}

}  // namespace
}  // namespace offcpud
