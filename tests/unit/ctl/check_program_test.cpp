// SPDX-License-Identifier: Apache-2.0
#include "ctl/check_program.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "unit/config/config_tree.h"

namespace offcpud {
namespace {

using test::ConfigTree;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string note_of(const ConfigSources& sources) {
  const auto checked = check_config(sources);
  return checked ? checked->note : "error: " + checked.error().message();
}

TEST(CheckConfig, PrintsAllValuesAndSaysHowTheDaemonTakesThemOver) {
  const ConfigTree tree;
  tree.write("offcpud.yaml", "linger: 1h\n");
  const auto checked = check_config(tree.sources());
  ASSERT_TRUE(checked) << checked.error().message();
  EXPECT_THAT(checked->text, StartsWith("OK; read: " + tree.path("offcpud.yaml").native()));
  EXPECT_THAT(checked->text, HasSubstr("\nlinger: 1h\n"));
  EXPECT_EQ(checked->note,
            "next: kill -HUP to the offcpud that was started with the same options; offcpuctl "
            "status then names the options that take effect on a restart");
}

// The file of the service, whether there is one on this host or not.
TEST(CheckConfig, OfTheServiceItSaysTheCommand) {
  ConfigSources service;
  const std::string next = "next: systemctl reload offcpud; ";
  const bool is_right = note_of(service).find("error: ") == std::string::npos &&
                        std::filesystem::exists("/run/systemd/system");
  EXPECT_EQ(note_of(service).find(next) != std::string::npos, is_right);
  service.settings = {"linger=1h"};
  EXPECT_THAT(note_of(service), Not(HasSubstr(next))) << "no service has this value";
}

TEST(CheckConfig, WarningsComeBeforeThat) {
  const ConfigTree tree;
  tree.write("web.yaml", "http_server_config: {http2: true}\n");
  tree.write("offcpud.yaml", "web: {config_file: " + tree.path("web.yaml").native() + "}\n");
  EXPECT_THAT(note_of(tree.sources()), HasSubstr("no effect"));
  EXPECT_THAT(note_of(tree.sources()), HasSubstr("\nnext: "));
}

TEST(CheckConfig, AnErrorSaysWhatItMeansForTheDaemon) {
  const ConfigTree tree;
  tree.write("offcpud.yaml", "lingr: 1h\n");
  const auto checked = check_config(tree.sources());
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind(), ErrorKind::Configuration);
  EXPECT_THAT(checked.error().message(), HasSubstr("offcpud.yaml:1: lingr: unknown option"));
  EXPECT_THAT(checked.error().message(),
              EndsWith("; correct it and check again, as further mistakes may follow: until then "
                       "a running offcpud keeps what it has, and none starts"));
}

TEST(CheckConfig, OfATrialItSaysNothingOfTheDaemon) {
  const ConfigTree tree;
  tree.write("offcpud.yaml", "linger: 1h\n");
  ConfigSources sources = tree.sources();
  sources.settings = {"foo=1"};
  EXPECT_THAT(note_of(sources), StartsWith("error: --set foo: unknown option"));
  EXPECT_THAT(note_of(sources), Not(HasSubstr("running offcpud")));
}

TEST(CheckConfig, OfAFileThatIsNotThereItSaysOnlyHowToDoWithout) {
  const ConfigTree tree;
  ConfigSources sources = tree.sources();
  sources.file = tree.path("nofile.yaml");
  sources.file_required = true;
  EXPECT_THAT(note_of(sources), HasSubstr("nofile.yaml: does not exist; create it, or leave out"));
  EXPECT_THAT(note_of(sources), Not(HasSubstr("running offcpud")));
}

}  // namespace
}  // namespace offcpud
