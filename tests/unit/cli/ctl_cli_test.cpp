// SPDX-License-Identifier: Apache-2.0
#include "cli/ctl_cli.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace offcpud {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

Result<CtlOptions> parse_ctl(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "offcpuctl");
  return parse_ctl_command_line(static_cast<int>(arguments.size()), arguments.data());
}

TEST(CtlCommandLine, StatusAsksTheDefaultAddress) {
  const auto options = parse_ctl({"status"});
  ASSERT_TRUE(options) << options.error().message();
  EXPECT_EQ(options->command, CtlCommand::ShowStatus);
  EXPECT_EQ(options->server.address, (ListenAddress{"127.0.0.1", 19435, ""}));
  EXPECT_FALSE(options->json);
}

TEST(CtlCommandLine, TheServerMayBeAUrlWithFilesForTls) {
  const auto options =
      parse_ctl({"status", "--server", "https://node7:1/", "--netrc-file", "/dev/null"});
  ASSERT_TRUE(options) << options.error().message();
  EXPECT_TRUE(options->server.tls);
  EXPECT_EQ(options->server.address, (ListenAddress{"node7", 1, ""}));
  EXPECT_EQ(options->server.netrc_file, "/dev/null");
  EXPECT_FALSE(parse_ctl({"status", "--server", "http://[::1]:1"})->server.tls);
  for (const char* text : {"https://node7", "https://node7:1/metrics", "ftp://node7:1",
                           "https://unix:/run/x", "https://node7:0"}) {
    EXPECT_FALSE(parse_ctl({"status", "--server", text})) << text;
  }
  EXPECT_FALSE(parse_ctl({"status", "--ca-file", "/dev/null"}));
  EXPECT_FALSE(parse_ctl({"status", "--server", "https://a:1", "--key-file", "/dev/null"}));
  EXPECT_FALSE(parse_ctl({"status", "--server", "https://a:1", "--ca-file", "/nonexistent"}));
}

TEST(CtlCommandLine, StatusTakesAnAddress) {
  const auto options = parse_ctl({"status", "--server", "unix:/run/x", "--json"});
  ASSERT_TRUE(options) << options.error().message();
  EXPECT_EQ(options->server.address.unix_path, "/run/x");
  EXPECT_TRUE(options->json);
}

TEST(CtlCommandLine, StallsAreThoseInProgressUnlessSaidOtherwise) {
  const auto options = parse_ctl({"stalls"});
  ASSERT_TRUE(options) << options.error().message();
  EXPECT_EQ(options->command, CtlCommand::ShowStalls);
  EXPECT_EQ(options->server.address, (ListenAddress{"127.0.0.1", 19435, ""}));
  EXPECT_EQ(options->query, (QueryParameters{{"state", "in_progress"}}));
  EXPECT_EQ(parse_ctl({"stalls", "--all"})->query, QueryParameters{});
  EXPECT_EQ(parse_ctl({"stalls", "--state", "ended"})->query,
            (QueryParameters{{"state", "ended"}}));
  EXPECT_EQ(
      parse_ctl({"stalls", "--comm", "a b", "--reason", "lock", "--cgroup", "/x", "--limit", "3"})
          ->query,
      (QueryParameters{{"cgroup", "/x"},
                       {"comm", "a b"},
                       {"reason", "lock"},
                       {"limit", "3"},
                       {"state", "in_progress"}}));
  EXPECT_TRUE(parse_ctl({"stalls", "--json", "--server", "unix:/x"})->json);
  EXPECT_FALSE(options->verbose);
  EXPECT_TRUE(parse_ctl({"stalls", "-v"})->verbose);
}

TEST(CtlCommandLine, TopTakesWhatToShow) {
  const auto plain = parse_ctl({"top"});
  ASSERT_TRUE(plain) << plain.error().message();
  EXPECT_EQ(plain->command, CtlCommand::ShowTop);
  EXPECT_EQ(plain->server.address, (ListenAddress{"127.0.0.1", 19435, ""}));
  EXPECT_EQ(plain->top, TopRequest{});
  EXPECT_EQ(plain->interval, std::chrono::seconds(2));
  EXPECT_FALSE(plain->once);

  const auto all =
      parse_ctl({"top", "--server", "unix:/run/x", "--sort", "p99", "--filter", "a", "--pid", "7",
                 "--limit", "9", "--reverse", "--interval", "500ms", "--once"});
  ASSERT_TRUE(all) << all.error().message();
  EXPECT_EQ(all->top,
            (TopRequest{.sort = "p99", .filter = "a", .pid = 7, .limit = 9, .reverse = true}));
  EXPECT_EQ(all->interval, std::chrono::milliseconds(500));
  EXPECT_TRUE(all->once);
}

TEST(CtlCommandLine, TopImpliesWhatAnOptionNeeds) {
  EXPECT_TRUE(parse_ctl({"top", "--json"})->once);
  EXPECT_TRUE(parse_ctl({"top", "--cpu", "0"})->top.threads);
  EXPECT_TRUE(parse_ctl({"top", "--pinned"})->top.threads);
}

TEST(CtlCommandLine, TheLengthOfASnapshotIsADurationOrANumberOfSeconds) {
  const std::pair<const char*, unsigned> lengths[] = {
      {"2", 2}, {"10s", 10}, {"1min30s", 90}, {"5min", 300}, {"300", 300}};
  EXPECT_EQ(parse_ctl({"snapshot"})->seconds, 10U);
  for (const auto& [text, seconds] : lengths) {
    const auto options = parse_ctl({"snapshot", text});
    ASSERT_TRUE(options) << options.error().message();
    EXPECT_EQ(options->seconds, seconds) << text;
    EXPECT_THAT(options->query,
                testing::Contains(testing::Pair("seconds", std::to_string(seconds))));
  }
  EXPECT_EQ(
      parse_ctl({"snapshot", "301"}).error().message(),
      "duration: \"301s\" is out of range; use a duration such as 10s, 1min (1s to 5min); see "
      "offcpuctl snapshot --help");
}

TEST(CtlCommandLine, StacksAreSelectedByWhatTheirWaitsAreFor) {
  const std::vector<std::vector<const char*>> commands = {
      {"snapshot"}, {"snapshots"}, {"flame", "-o", "a.html"}};
  for (std::vector<const char*> words : commands) {
    words.insert(words.end(), {"--for", "lock,answer", "--site", "go-idle-thread"});
    const auto options = parse_ctl(words);
    ASSERT_TRUE(options) << options.error().message();
    EXPECT_THAT(options->query, testing::Contains(testing::Pair("for", "lock,answer")));
    EXPECT_THAT(options->query, testing::Contains(testing::Pair("site", "go-idle-thread")));
  }
}

TEST(CtlCommandLine, UnexpectedArgumentsAreNamedInTheirOrder) {
  EXPECT_EQ(parse_ctl({"status", "--lisen", "127.0.0.1:1"}).error().message(),
            "not expected: --lisen 127.0.0.1:1; see offcpuctl status --help");
}

TEST(CtlCommandLine, SnapshotsAreAListUnlessAFormatIsGiven) {
  const auto list = parse_ctl({"snapshots", "--cgroup", "/a b", "--json", "--last", "1h"});
  ASSERT_TRUE(list) << list.error().message();
  EXPECT_EQ(list->command, CtlCommand::ShowSnapshots);
  EXPECT_TRUE(list->json);
  EXPECT_EQ(list->query, (QueryParameters{{"cgroup", "/a b"}, {"from", "-1h"}}));

  const auto stacks = parse_ctl({"snapshots", "--offwake", "-o", "x", "--server", "unix:/x"});
  ASSERT_TRUE(stacks) << stacks.error().message();
  EXPECT_EQ(stacks->command, CtlCommand::FetchStacks);
  EXPECT_EQ(stacks->output, "x");
  EXPECT_EQ(stacks->server.address.unix_path, "/x");
  EXPECT_EQ(stacks->query, (QueryParameters{{"format", "offwake"}}));
}

TEST(CtlCommandLine, FlameTakesTheParametersOfAMergeAndOfADifference) {
  const auto flame =
      parse_ctl({"flame", "-o", "a.html", "--from", "-10min", "--to", "now", "--comm", "x",
                 "--no-idle", "--base-from", "-1h", "--base-to", "-30min", "--normalize"});
  ASSERT_TRUE(flame) << flame.error().message();
  EXPECT_EQ(flame->command, CtlCommand::DrawFlame);
  EXPECT_EQ(flame->output, "a.html");
  EXPECT_THAT(
      flame->query,
      testing::UnorderedElementsAre(
          testing::Pair("from", "-10min"), testing::Pair("to", "now"), testing::Pair("comm", "x"),
          testing::Pair("base_from", "-1h"), testing::Pair("base_to", "-30min"),
          testing::Pair("normalize", "true"), testing::Pair("idle", "false")));
}

// An idle thread of Go leaves the CPU by `lock`, too.
TEST(CtlCommandLine, FlameLeavesOutIdleWaitsOfOneReason) {
  const auto flame = parse_ctl({"flame", "-o", "a.html", "--no-idle", "--reason", "lock"});
  ASSERT_TRUE(flame) << flame.error().message();
  EXPECT_THAT(flame->query, testing::UnorderedElementsAre(testing::Pair("idle", "false"),
                                                          testing::Pair("reason", "lock")));
}

TEST(CtlCommandLine, DiffAsksForTwoRangesAsText) {
  const auto diff = parse_ctl({"diff"});
  ASSERT_TRUE(diff) << diff.error().message();
  EXPECT_EQ(diff->command, CtlCommand::ShowChanges);
  EXPECT_EQ(diff->query, (QueryParameters{{"format", "text"}}));
  const auto some = parse_ctl({"diff", "--last", "5min", "--base-from", "-1h", "--cgroup", "nginx",
                               "--for", "lock,cpu", "--idle", "--json"});
  ASSERT_TRUE(some) << some.error().message();
  EXPECT_THAT(some->query, testing::UnorderedElementsAre(
                               testing::Pair("from", "-5min"), testing::Pair("base_from", "-1h"),
                               testing::Pair("cgroup", "nginx"), testing::Pair("for", "lock,cpu"),
                               testing::Pair("idle", "true")));
}

TEST(CtlCommandLine, GoroutinesAreThoseOfOneProcess) {
  const auto text = parse_ctl({"goroutines", "812", "--limit", "7"});
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(text->command, CtlCommand::ShowGoroutines);
  EXPECT_THAT(text->query, testing::UnorderedElementsAre(testing::Pair("pid", "812"),
                                                         testing::Pair("limit", "7"),
                                                         testing::Pair("format", "text")));
  const auto json = parse_ctl({"goroutines", "--json", "812"});
  ASSERT_TRUE(json) << json.error().message();
  EXPECT_EQ(json->query, (QueryParameters{{"pid", "812"}}));
  EXPECT_FALSE(parse_ctl({"goroutines"}));
  EXPECT_FALSE(parse_ctl({"goroutines", ""}));
}

TEST(CtlCommandLine, CheckConfigTakesTheSourcesOfTheDaemon) {
  const auto options = parse_ctl({"check-config", "--config", "a.yaml", "--set", "linger=1h"});
  ASSERT_TRUE(options) << options.error().message();
  EXPECT_EQ(options->command, CtlCommand::CheckConfig);
  EXPECT_EQ(options->sources.file, "a.yaml");
  EXPECT_TRUE(options->sources.file_required);
  EXPECT_EQ(options->sources.settings, std::vector<std::string>{"linger=1h"});
}

TEST(CtlCommandLine, HelpOfTheProgramAndOfACommand) {
  const auto help = parse_ctl({"--help"});
  ASSERT_TRUE(help);
  EXPECT_EQ(help->command, CtlCommand::PrintText);
  EXPECT_THAT(help->text, HasSubstr("check-config"));
  const auto status = parse_ctl({"status", "--help"});
  ASSERT_TRUE(status);
  EXPECT_THAT(status->text, HasSubstr("--server ADDR"));
  EXPECT_THAT(status->text, HasSubstr("--ca-file FILE "));
  EXPECT_THAT(parse_ctl({"--version"})->text, testing::StartsWith("offcpuctl "));
}

TEST(CtlCommandLine, WithoutACommandItAsksWhoIsToBlame) {
  const auto options = parse_ctl({});
  ASSERT_TRUE(options) << options.error().message();
  EXPECT_EQ(options->command, CtlCommand::ShowVerdict);
  EXPECT_EQ(options->server.address, (ListenAddress{"127.0.0.1", 19435, ""}));
  EXPECT_EQ(options->query, (QueryParameters{{"format", "text"}, {"limit", "3"}}));
  EXPECT_FALSE(options->server_given);
  const auto elsewhere = parse_ctl({"--server", "192.0.2.7:9435"});
  ASSERT_TRUE(elsewhere) << elsewhere.error().message();
  EXPECT_EQ(elsewhere->command, CtlCommand::ShowVerdict);
  EXPECT_EQ(elsewhere->server.address, (ListenAddress{"192.0.2.7", 9435, ""}));
  EXPECT_TRUE(elsewhere->server_given);
}

TEST(CtlCommandLine, UsageErrorsPointAtTheHelpOfTheCommand) {
  EXPECT_EQ(parse_ctl({"frobnicate"}).error().message(),
            "there is no command frobnicate: offcpuctl --help lists them");
  EXPECT_EQ(parse_ctl({"stall", "-v"}).error().message(),
            "there is no command stall: offcpuctl --help lists them");
  EXPECT_EQ(parse_ctl({"stall"}).error().kind(), ErrorKind::Usage);
  EXPECT_EQ(parse_ctl({"--verbose"}).error().message(),
            "not expected: --verbose; see offcpuctl --help");
  EXPECT_EQ(parse_ctl({"top", "-n", "1"}).error().message(),
            "not expected: -n 1; --once prints once, as top does anyway without a terminal; see "
            "offcpuctl top --help");
  EXPECT_EQ(parse_ctl({"status", "--server", "127.0.0.1"}).error().message(),
            "--server: \"127.0.0.1\" has no port; use HOST:PORT, unix:/PATH or https://HOST:PORT; "
            "see offcpuctl status --help");
  const std::vector<std::vector<const char*>> cases = {
      {"status", "extra"},
      {"status", "--server"},
      {"status", "--server", "here"},
      {"status", "--server", "localhost:0"},
      {"status", "--config", "a"},
      {"check-config", "--config", ""},
      {"check-config", "--listen", "a:1"},
      {"status", "check-config"},
      {"stalls", "--state", "open"},
      {"stalls", "--state", "ended", "--all"},
      {"status", "--all"},
      {"top", "--cpu", "x"},
      {"top", "--pid", "-1"},
      {"top", "--limit", ""},
      {"top", "--interval", "2"},
      {"top", "--interval", "10ms"},
      {"snapshot", "0"},
      {"snapshot", "500ms"},
      {"snapshot", "1500ms"},
      {"snapshot", "6min"},
      {"snapshot", "soon"},
      {"snapshot", ""},
      {"snapshots", "--folded", "--pprof"},
      {"snapshots", "--folded", "--json"},
      {"snapshots", "-o", "x"},
      {"snapshots", "--last", "10"},
      {"snapshots", "--last", "1h", "--from", "-2h"},
      {"diff", "--last", "10"},
      {"diff", "--last", "1h", "--to", "now"},
      {"diff", "extra"},
      {"flame"},
      {"flame", "-o", "a.svg"},
  };
  for (const auto& arguments : cases) {
    const auto options = parse_ctl(arguments);
    ASSERT_FALSE(options) << (arguments.empty() ? "" : arguments.back());
    EXPECT_EQ(options.error().kind(), ErrorKind::Usage);
    EXPECT_THAT(options.error().message(),
                EndsWith("; see offcpuctl " + std::string(arguments.front()) + " --help"));
  }
}

TEST(CtlCommandLine, ExplainStackTakesAFileAndFoldersOfRules) {
  const auto plain = parse_ctl({"explain-stack"});
  ASSERT_TRUE(plain) << plain.error().message();
  EXPECT_EQ(plain->command, CtlCommand::ExplainStacks);
  EXPECT_EQ(plain->explain.file, "");
  EXPECT_TRUE(plain->explain.rules.empty());

  const auto all = parse_ctl(
      {"explain-stack", "--rules", "/", "--rules", "/tmp", "--unmatched", "-v", "out.json"});
  ASSERT_TRUE(all) << all.error().message();
  EXPECT_EQ(all->explain.rules, (std::vector<std::string>{"/", "/tmp"}));
  EXPECT_TRUE(all->explain.unmatched);
  EXPECT_TRUE(all->explain.verbose);
  EXPECT_EQ(all->explain.file, "out.json");
  EXPECT_FALSE(parse_ctl({"explain-stack", "--rules", "/nonexistent"}));
  EXPECT_FALSE(parse_ctl({"explain-stack", "--server", "unix:/x"}));  // asks nobody
}

}  // namespace
}  // namespace offcpud
