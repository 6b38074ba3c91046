// SPDX-License-Identifier: Apache-2.0
#include "manual/manual_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "config/config_schema.h"
#include "manual/roff.h"
#include "metrics/metric_catalog.h"

namespace offcpud {
namespace {

using testing::HasSubstr;

const CommandDoc& command(const CommandDoc& program, std::string_view name) {
  return *std::ranges::find(program.commands, name, &CommandDoc::name);
}

TEST(CommandDoc, SaysWhatTheParserKnows) {
  const CommandDoc ctl = ctl_command_doc();
  const CommandDoc& stalls = command(ctl, "stalls");
  const auto state = std::ranges::find_if(
      stalls.options, [](const OptionDoc& o) { return o.names.back() == "--state"; });
  ASSERT_NE(state, stalls.options.end());
  EXPECT_EQ(state->value, "STATE");
  EXPECT_EQ(state->choices, (std::vector<std::string>{"in_progress", "ended"}));
  const auto json = std::ranges::find_if(
      stalls.options, [](const OptionDoc& o) { return o.names.back() == "--json"; });
  ASSERT_NE(json, stalls.options.end());
  EXPECT_EQ(json->value, "");
}

TEST(CommandDoc, OptionsOfGroupsAreThoseOfTheCommandAndHelpIsThereOnce) {
  const CommandDoc ctl = ctl_command_doc();
  const auto& options = command(ctl, "snapshots").options;
  EXPECT_EQ(std::ranges::count_if(options, is_help), 1);
  EXPECT_EQ(
      std::ranges::count_if(options, [](const auto& o) { return o.names.back() == "--pprof"; }), 1);
}

TEST(ManualParts, NameEveryOptionOfTheConfigurationAndEveryMetric) {
  const ManualParts parts = manual_parts("1.2.3");
  for (const Option& option : config_options()) {
    EXPECT_THAT(parts.at("CONFIG_OPTIONS"), HasSubstr("\n" + roff_bold(option.name) + "\n"));
  }
  EXPECT_THAT(parts.at("CGROUP_RULE_KEYS"), HasSubstr("\n" + roff_bold("keep") + "\n"));
  for (const MetricDef& def : metric_catalog()) {
    EXPECT_THAT(parts.at("METRICS"), HasSubstr(roff_bold(def.name) + " ("));
  }
}

TEST(ManualParts, AnItemHasNamesValueHelpAndDefault) {
  const CommandDoc program{
      "x", "", {{{"-o", "--out"}, "FILE", {"a", "b"}, "a", "Where to", false}}, {}};
  EXPECT_EQ(option_items(program),
            ".TP\n\\fB\\-o\\fR, \\fB\\-\\-out\\fR \\fIFILE\\fR\n"
            "Where to. One of \\fBa\\fR, \\fBb\\fR. Default: \\fBa\\fR.\n");
}

TEST(ManualTemplate, MarksAreReplaced) {
  const ManualParts parts = {{"A", "one"}, {"B", "list\n"}};
  const auto text = fill_manual_template("x @A@ y\n@B@\nz", parts);
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(*text, "x one y\nlist\nz");
}

TEST(ManualTemplate, AnUnknownMarkIsAnErrorWithItsPlace) {
  const auto text = fill_manual_template("x\ny @C@", {});
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message(), HasSubstr("@C@, in line 2"));
  EXPECT_FALSE(fill_manual_template("somebody@somewhere", {}));
}

std::string text_of(const std::string& path) {
  std::ifstream file(OFFCPUD_SOURCE_DIR "/" + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The log names a cause, and this page says what it means.
TEST(ManualParts, TheCausesOfLossesAreThoseOfTheDocumentation) {
  std::istringstream lines(text_of("docs/semantics.md"));
  const std::string page = text_of("docs/man/offcpud-metrics.7.in");
  std::string line;
  while (std::getline(lines, line) && line != "## What is missing, and how one knows") {
  }
  std::size_t causes = 0;
  while (std::getline(lines, line) && !line.starts_with("## ")) {
    if (!line.starts_with("| `")) continue;
    const std::string cause = line.substr(3, line.find('`', 3) - 3);
    EXPECT_THAT(page, HasSubstr(cause));
    ++causes;
  }
  EXPECT_GE(causes, 16U);
}

}  // namespace
}  // namespace offcpud
