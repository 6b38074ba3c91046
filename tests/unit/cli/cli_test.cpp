// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/exit_code.h"

namespace offcpud {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

Result<CliOptions> parse_daemon(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "/usr/bin/offcpud");
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

TEST(CommandLine, WithoutArgumentsRunsWithTheDefaultFile) {
  const auto options = parse_daemon({});
  ASSERT_TRUE(options) << options.error().message();
  EXPECT_EQ(options->action, Action::Run);
  EXPECT_EQ(options->sources.file, "/etc/offcpud/offcpud.yaml");
  EXPECT_FALSE(options->sources.file_required);
  EXPECT_TRUE(options->sources.settings.empty());
  EXPECT_FALSE(options->sources.listen);
  EXPECT_FALSE(options->sources.state_dir);
}

TEST(CommandLine, TakesEverySource) {
  const auto options =
      parse_daemon({"--config", "a.yaml", "--listen=[::1]:80", "--state-dir", "/s", "--set",
                    "linger=1h", "--set=x=[a,b]", "--set", "y=", "--set", "linger=2h"});
  ASSERT_TRUE(options) << options.error().message();
  EXPECT_EQ(options->sources.file, "a.yaml");
  EXPECT_TRUE(options->sources.file_required);
  EXPECT_EQ(options->sources.listen, "[::1]:80");
  EXPECT_EQ(options->sources.state_dir, "/s");
  EXPECT_EQ(options->sources.settings,
            (std::vector<std::string>{"linger=1h", "x=[a,b]", "y=", "linger=2h"}));
}

TEST(CommandLine, UnexpectedArgumentsAreNamedInTheirOrder) {
  EXPECT_EQ(parse_daemon({"--lisen", "127.0.0.1:1"}).error().message(),
            "not expected: --lisen 127.0.0.1:1; see offcpud --help");
}

// The unit names it.
TEST(CommandLine, TheDefaultFileIsNotRequiredWhenItIsNamedEither) {
  for (const char* const file :
       {"/etc/offcpud/offcpud.yaml", "/etc/../etc//offcpud/offcpud.yaml"}) {
    EXPECT_FALSE(parse_daemon({"--config", file})->sources.file_required) << file;
  }
  EXPECT_TRUE(parse_daemon({"--config", "offcpud.yaml"})->sources.file_required);
}

TEST(CommandLine, AnEmptyOverrideIsKeptForTheLoaderToRefuse) {
  const auto options = parse_daemon({"--listen", ""});
  ASSERT_TRUE(options) << options.error().message();
  EXPECT_EQ(options->sources.listen, "");
}

TEST(CommandLine, ModesAreFlags) {
  EXPECT_EQ(parse_daemon({"--check-config"})->action, Action::CheckConfig);
  EXPECT_EQ(parse_daemon({"--features"})->action, Action::PrintFeatures);
  EXPECT_TRUE(parse_daemon({"--check-config", "--config", "a.yaml"})->sources.file_required);
}

TEST(CommandLine, HelpAndVersionAreTextToPrint) {
  const auto version = parse_daemon({"--version"});
  ASSERT_TRUE(version);
  EXPECT_EQ(version->action, Action::PrintText);
  EXPECT_THAT(version->text, testing::MatchesRegex("offcpud [0-9]+.[0-9]+.[0-9]+ .[0-9a-z]+.\n"));

  const auto help = parse_daemon({"--help"});
  ASSERT_TRUE(help);
  EXPECT_EQ(help->action, Action::PrintText);
  for (const char* word :
       {"--config FILE", "--listen ADDR", "--state-dir DIR", "--set KEY=VALUE", "--check-config",
        "--features", "--version", "listen address that is taken", "78 configuration"}) {
    EXPECT_THAT(help->text, HasSubstr(word));
  }
}

TEST(CommandLine, UsageErrorsPointAtTheHelp) {
  const std::vector<std::vector<const char*>> cases = {
      {"--nonsense"},
      {"word"},
      {"--config"},
      {"--config", ""},
      {"--config", "a", "--config", "b"},
      {"--set"},
      {"--set", "a=1", "b=2"},
      {"--listen"},
      {"--check-config", "--features"},
      {"--check-config=maybe"},
      {"-x"},
      {"bad\nword"},
  };
  for (const auto& arguments : cases) {
    const auto options = parse_daemon(arguments);
    ASSERT_FALSE(options) << arguments.front();
    EXPECT_EQ(options.error().kind(), ErrorKind::Usage);
    EXPECT_THAT(options.error().message(), EndsWith("; see offcpud --help"));
    EXPECT_EQ(options.error().message().find('\n'), std::string::npos);
  }
}

TEST(ExitCode, FollowsTheKindOfError) {
  EXPECT_EQ(static_cast<int>(exit_code_for(ErrorKind::Usage)), 64);
  EXPECT_EQ(static_cast<int>(exit_code_for(ErrorKind::NotFound)), 66);
  EXPECT_EQ(static_cast<int>(exit_code_for(ErrorKind::Unsupported)), 69);
  EXPECT_EQ(static_cast<int>(exit_code_for(ErrorKind::Internal)), 70);
  EXPECT_EQ(static_cast<int>(exit_code_for(ErrorKind::Output)), 73);
  EXPECT_EQ(static_cast<int>(exit_code_for(ErrorKind::Permission)), 77);
  EXPECT_EQ(static_cast<int>(exit_code_for(ErrorKind::Configuration)), 78);
}

}  // namespace
}  // namespace offcpud
