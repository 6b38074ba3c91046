// SPDX-License-Identifier: Apache-2.0
#include "config/config_loader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "config/config_files.h"
#include "unit/config/config_tree.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::ConfigTree;

Config loaded(const ConfigSources& sources) {
  auto config = load_config(sources);
  if (!config) {
    ADD_FAILURE() << config.error().message();
    return {};
  }
  return *std::move(config);
}

// The file of the configuration may be absent.
ConfigSources without_file(const ConfigTree& tree) {
  ConfigSources sources = tree.sources();
  sources.file_required = false;
  return sources;
}

TEST(ConfigLoader, ADefaultFileMayBeAbsent) {
  const ConfigTree tree;
  EXPECT_EQ(loaded(without_file(tree)), Config{});
}

TEST(ConfigLoader, ANamedFileMayNotBeAbsent) {
  const ConfigTree tree;
  EXPECT_EQ(tree.error(),
            "offcpud.yaml: does not exist; create it, or leave out --config: without a file all "
            "options have their defaults");
}

TEST(ConfigLoader, AMissingWebConfigFileIsRefusedWhereItIsNamed) {
  const ConfigTree tree;
  const auto error = [&](const ConfigSources& sources) {
    const Status found = find_web_config_file(loaded(sources), sources);
    return found ? std::string() : found.error().message();
  };
  tree.write("offcpud.yaml", "linger: 1h\n");
  EXPECT_EQ(error(tree.sources()), "") << "none is named";
  const std::string web = tree.path("web.yaml").native();
  tree.write("offcpud.yaml", "linger: 1h\nweb:\n  config_file: " + web + "\n");
  EXPECT_EQ(error(tree.sources()),
            tree.path("offcpud.yaml").native() + ":3: web.config_file: there is no " + web +
                "; restore it, or remove web.config_file from the configuration to do without TLS "
                "and passwords");
  ConfigSources sources = tree.sources();
  sources.settings = {"web.config_file=" + web + "2"};
  EXPECT_TRUE(error(sources).starts_with("--set web.config_file: there is no " + web + "2; "));
  tree.write("web.yaml", "{}\n");
  EXPECT_EQ(error(tree.sources()), "");
}

// The main file is gone, and with it what protected the rest.
class AbsentFile : public testing::Test {
 protected:
  // Empty: the daemon starts. This directory is taken out.
  std::string error(const std::string& drop_in) {
    tree_.write("conf.d/a.yaml", drop_in);
    const Config config = loaded(sources_);
    const Status status = check_absent_file(config, sources_, exposed_address(config));
    if (status) return {};
    EXPECT_EQ(status.error().kind(), ErrorKind::Configuration);
    const std::string message = status.error().message();
    const std::string prefix = sources_.file.parent_path().native() + "/";
    EXPECT_TRUE(message.starts_with(prefix)) << message;
    return message.substr(prefix.size());
  }

  ConfigTree tree_;
  ConfigSources sources_ = without_file(tree_);
};

TEST_F(AbsentFile, IsNoneToStartWithoutWhereOtherHostsReachTheDaemon) {
  EXPECT_EQ(error("listen: 0.0.0.0:19435\n"),
            "offcpud.yaml: does not exist; other hosts reach 0.0.0.0:19435, and it may have set "
            "what keeps them out (web.config_file); put it back, or create it with one line of "
            "comment to do without");
  for (const char* reached : {"'[::]:1'", "192.0.2.1:1", "web1.example.org:1", "'[fe80::1]:1'"}) {
    EXPECT_NE(error(std::string("listen: ") + reached), "") << reached;
  }
  sources_.listen = "[::]:19435";
  EXPECT_NE(error("linger: 1h\n"), "") << "by an option";
}

TEST_F(AbsentFile, MayBeAbsentWhereNobodyElseReachesTheDaemon) {
  EXPECT_EQ(error("linger: 1h\n"), "");
  for (const char* local : {"127.0.0.1:1", "127.8.0.1:1", "'[::1]:1'", "localhost:1", "unix:/a"}) {
    EXPECT_EQ(error(std::string("listen: ") + local), "") << local;
  }
}

TEST_F(AbsentFile, MayBeAbsentWhereTheWebConfigurationIsNamedElsewhere) {
  EXPECT_EQ(error("listen: 0.0.0.0:1\nweb: {config_file: /etc/offcpud/web.yaml}\n"), "");
}

TEST_F(AbsentFile, AFileOfCommentsIsOneThatIsThere) {
  tree_.write("offcpud.yaml", "# all defaults\n");
  EXPECT_EQ(error("listen: 0.0.0.0:1\npush: {url: https://a.example}\n"), "");
}

TEST_F(AbsentFile, IsNoneToStartWithoutWhereStacksAreSentToAnotherHost) {
  EXPECT_EQ(error("push: {url: 'https://a.example:4040/b'}\n"),
            "offcpud.yaml: does not exist; push.url sends stacks to another host, and it may have "
            "set which ones to leave out (snapshots.cgroups); put it back, or create it with one "
            "line of comment to do without");
  EXPECT_NE(error("push: {url: 'http://[2001:db8::1]/'}\n"), "");
  for (const char* here : {"http://127.0.0.1:4040", "http://localhost/a", "'http://[::1]:1/b'"}) {
    EXPECT_EQ(error(std::string("push: {url: ") + here + "}"), "") << here;
  }
}

TEST(ConfigFiles, TheTextNamesWhatWasRead) {
  const ConfigTree tree;
  const std::string file = tree.path("offcpud.yaml").native();
  const std::string drop_in = tree.path("conf.d/a.yaml").native();
  EXPECT_EQ(files_text(file), "no file was read: there is neither " + file + " nor a file " +
                                  tree.path("conf.d").native() + "/*.yaml");
  tree.write("conf.d/a.yaml", "linger: 1h\n");
  EXPECT_EQ(files_text(file), "read: " + drop_in);
  tree.write("offcpud.yaml", "linger: 1h\n");
  EXPECT_EQ(files_text(file), "read: " + file + ", " + drop_in);
}

TEST(ConfigLoader, NoErrorRepeatsAnAddressThatMayHoldAPassword) {
  const ConfigTree tree;
  for (const char* text :
       {"push: {url: [https://user:SECRETPW@host]}\n", "push:\n  url: https://user:SECRETPW@host\n",
        "push:\n  url: {https://user:SECRETPW@host: x}\n",
        "push:\n  url: \"https://user:SECRETPW@host\n",
        "push:\n  url: 'https://host'\n  url: 'https://user:SECRETPW@host'\n",
        "push:\n  ca_file: /a\n  url: http://user:SECRETPW@host\n"}) {
    tree.write("offcpud.yaml", text);
    const std::string error = tree.error();
    EXPECT_NE(error, "");
    EXPECT_EQ(error.find("SECRETPW"), std::string::npos) << error;
  }
  tree.write("offcpud.yaml", "");
  ConfigSources sources = tree.sources();
  sources.settings = {"push.url:https://user:SECRETPW@host"};
  const auto config = load_config(sources);
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().message().find("SECRETPW"), std::string::npos);
}

TEST(ConfigLoader, AFileOfCommentsSetsNothing) {
  const ConfigTree tree;
  tree.write("offcpud.yaml", "# all defaults\n");
  EXPECT_EQ(loaded(tree.sources()), Config{});
}

TEST(ConfigLoader, ReadsEveryKindOfValue) {
  const ConfigTree tree;
  tree.write("offcpud.yaml",
             "listen: \"[::1]:0\"\n"
             "log_level: debug\n"
             "pass_interval: 1500ms\n"
             "linger: 1h30min\n"
             "max_series: '77'\n"
             "classic_buckets: 14\n");
  Config expected;
  expected.listen = "[::1]:0";
  expected.log_level = "debug";
  expected.pass_interval = 1500ms;
  expected.linger = 90min;
  expected.max_series = 77;
  expected.classic_buckets = 14;
  EXPECT_EQ(loaded(tree.sources()), expected);
}

TEST(ConfigLoader, TheLaterSourceWinsKeyByKey) {
  const ConfigTree tree;
  tree.write("offcpud.yaml", "max_series: 11\nmax_cgroups: 21\nlinger: 31s\nlisten: a:1\n");
  tree.write("conf.d/10-a.yaml", "max_series: 12\nmax_cgroups: 22\n");
  tree.write("conf.d/20-b.yaml", "max_series: 13\nstate_dir: /b\n");
  tree.write("conf.d/.hidden.yaml", "max_series: wrong\n");
  tree.write("conf.d/30-c.yaml.dpkg-new", "max_series: wrong\n");
  ConfigSources sources = tree.sources();
  sources.settings = {"linger=32s", "linger=33s", "listen=b:2", "state_dir=/c=d"};
  sources.listen = "c:3";

  Config expected;
  expected.max_series = 13;
  expected.max_cgroups = 22;
  expected.linger = 33s;
  expected.listen = "c:3";
  expected.state_dir = "/c=d";
  EXPECT_EQ(loaded(sources), expected);

  sources.state_dir = "/e";
  EXPECT_EQ(loaded(sources).state_dir, "/e");
}

TEST(ConfigLoader, ListsAndRulesOfTheLastSourceReplaceEarlierOnes) {
  const ConfigTree tree;
  tree.write("offcpud.yaml",
             "stalls:\n"
             "  over: [1s, 5s]\n"
             "  rules:\n"
             "    - cgroup: '/a\\.b'\n"
             "      threshold: never\n"
             "    - {reason: disk, threshold: 2s}\n"
             "processes: {top: 3, rules: [{unit: nginx.*}]}\n");
  Config expected;
  expected.stalls.over = {1s, 5s};
  expected.stalls.rules = {{.cgroup = "/a\\.b", .comm = "", .reason = "", .threshold = {}},
                           {.cgroup = "", .comm = "", .reason = "disk", .threshold = 2s}};
  expected.processes.top = 3;
  expected.processes.rules = {{.comm = "", .exe = "", .unit = "nginx.*", .cgroup = ""}};
  EXPECT_EQ(loaded(tree.sources()), expected);

  ConfigSources sources = tree.sources();
  sources.settings = {"stalls.over=[1s, 10s]", "stalls.rules=[]", "processes.top=0"};
  expected.stalls.over = {1s, 10s};
  expected.stalls.rules.clear();
  expected.processes.top = 0;
  EXPECT_EQ(loaded(sources), expected);
}

TEST(ConfigLoader, AnArgumentThatIsAListNamesTheEntry) {
  const ConfigTree tree;
  ConfigSources sources = without_file(tree);
  sources.settings = {"stalls.over=[10s, 1s]"};
  EXPECT_EQ(tree.error_of(sources),
            "--set stalls.over: entry 2: \"1s\" is not longer than the one before; use a list of 1 "
            "to 8 rising durations such as [1s, 10s] (100ms to 1d)");
  sources.settings = {"stalls.rules=[{comm: a, threshold: 1s}, {comm: b, coom: c}]"};
  EXPECT_EQ(tree.error_of(sources),
            "--set stalls.rules: entry 2: coom: unknown key; the keys are cgroup, comm, reason, "
            "threshold");
}

TEST(ConfigLoader, DropInsAreReadWithoutAMainFile) {
  const ConfigTree tree;
  tree.write("conf.d/a.yaml", "max_series: 12\n");
  EXPECT_EQ(loaded(without_file(tree)).max_series, 12U);
}

TEST(ConfigLoader, ArgumentErrorsNameTheArgument) {
  const ConfigTree tree;
  ConfigSources sources = without_file(tree);
  sources.settings = {"linger=1s"};
  EXPECT_EQ(tree.error_of(sources),
            "--set linger: \"1s\" is out of range; use a duration such as 500ms, 10s, 10min, 1h "
            "(10s to 7d)");
  sources.settings = {"lingr=1s"};
  EXPECT_EQ(
      tree.error_of(sources),
      "--set lingr: unknown option; the options are listen, state_dir, log_level, "
      "pass_interval, min_pass_interval, linger, max_cgroups, max_takers, disk_loads, max_series, "
      "classic_buckets, "
      "walk_cpu_budget, stalls, processes, snapshots, goroutines, web, push");
  sources.settings = {"web.detail=off"};
  EXPECT_EQ(tree.error_of(sources),
            "--set web.detail: unknown option; the options are web.config_file, web.details, "
            "web.hosts, web.local_socket, web.socket_group");
  sources.settings = {};
  sources.listen = "here";
  EXPECT_TRUE(tree.error_of(sources).starts_with("--listen: \"here\" has no port; use HOST:PORT"));
  sources.listen.reset();
  sources.state_dir = "here";
  EXPECT_TRUE(tree.error_of(sources).starts_with("--state-dir: \"here\" is not an absolute path;"));
}

// As configuration.md writes them.
TEST(ConfigLoader, AValueOfAnArgumentMayBeInQuotes) {
  const ConfigTree tree;
  ConfigSources sources = without_file(tree);
  const auto socket_of = [&](const std::string& value) {
    sources.settings = {"web.local_socket=" + value};
    return loaded(sources).web.local_socket;
  };
  EXPECT_EQ(socket_of("/a"), "/a");
  for (const char* none : {"", "\"\"", "''"}) EXPECT_EQ(socket_of(none), "") << none;
  for (const char* quoted : {"\"/a b\"", "'/a b'"}) EXPECT_EQ(socket_of(quoted), "/a b") << quoted;
  sources.settings = {"web.local_socket=\"/a"};
  EXPECT_TRUE(tree.error_of(sources).starts_with("--set web.local_socket: "));
  sources.settings = {R"(listen="[::1]:1")"};
  EXPECT_EQ(loaded(sources).listen, "[::1]:1");
}

TEST(ConfigLoader, AnArgumentWithoutAValueIsAUsageError) {
  for (const char* argument : {"linger", "=1s", "", "="}) {
    ConfigSources sources;
    sources.file = "/nonexistent/offcpud.yaml";
    sources.settings = {argument};
    const auto config = load_config(sources);
    ASSERT_FALSE(config) << argument;
    EXPECT_EQ(config.error().kind(), ErrorKind::Usage) << config.error().message();
  }
}

TEST(ConfigLoader, AConflictNamesTheSourceOfTheValue) {
  const ConfigTree tree;
  tree.write("offcpud.yaml", "\nmin_pass_interval: 20s\n");
  const std::string sentence =
      "min_pass_interval (20s) is longer than pass_interval (10s); lower the first or raise the "
      "second";
  EXPECT_EQ(tree.error(), "offcpud.yaml:2: min_pass_interval: " + sentence);
  // Values are compared once all sources are read.
  ConfigSources sources = tree.sources();
  sources.settings = {"pass_interval=30s"};
  EXPECT_EQ(loaded(sources).pass_interval, 30s);

  tree.write("offcpud.yaml", "pass_interval: 500ms\n");
  EXPECT_EQ(tree.error(),
            "offcpud.yaml:1: pass_interval: min_pass_interval (1s) is longer than pass_interval "
            "(500ms); lower the first or raise the second");
}

TEST(ConfigLoader, RefusesWhatIsNotAFile) {
  const ConfigTree tree;
  std::filesystem::create_directory(tree.path("offcpud.yaml"));
  EXPECT_EQ(tree.error(), "offcpud.yaml: is a directory; a YAML file is needed");
  std::filesystem::remove(tree.path("offcpud.yaml"));

  ASSERT_EQ(::mkfifo(tree.path("offcpud.yaml").c_str(), 0600), 0);
  EXPECT_EQ(tree.error(), "offcpud.yaml: is not a regular file; a YAML file is needed");
  std::filesystem::remove(tree.path("offcpud.yaml"));

  std::filesystem::create_symlink("nowhere", tree.path("offcpud.yaml"));
  EXPECT_EQ(tree.error(), "offcpud.yaml: is a link to a file that does not exist");
  std::filesystem::remove(tree.path("offcpud.yaml"));

  std::filesystem::create_symlink("offcpud.yaml", tree.path("offcpud.yaml"));
  EXPECT_EQ(tree.error(), "offcpud.yaml: cannot be read: Too many levels of symbolic links");
}

// As root, tried as nobody: root reads everything.
TEST(ConfigLoader, AFileWithoutReadPermissionSaysWhoNeedsIt) {
  const ConfigTree tree;
  tree.write("offcpud.yaml", "max_series: 12\n");
  ASSERT_EQ(::chmod(tree.path("offcpud.yaml").c_str(), 0), 0);
  const uid_t user = ::geteuid();
  if (user == 0 && ::seteuid(65534) != 0) GTEST_SKIP() << "root may not become nobody here";
  const bool readable = ::access(tree.path("offcpud.yaml").c_str(), R_OK) == 0 && user != 0;
  const std::string error = readable ? "" : tree.error();
  ASSERT_EQ(::seteuid(user), 0);
  if (readable) GTEST_SKIP() << "this user reads files of mode 0";
  EXPECT_EQ(error,
            "offcpud.yaml: cannot be read: Permission denied; the user offcpud runs as needs read "
            "access");
}

TEST(ConfigLoader, FilesAreBounded) {
  const ConfigTree tree;
  const std::string comment(63, '#');
  std::string text;
  while (text.size() < 256UL * 1024) text += comment + "\n";
  ASSERT_EQ(text.size(), 256UL * 1024);
  tree.write("offcpud.yaml", text);
  EXPECT_EQ(loaded(tree.sources()), Config{});
  tree.write("offcpud.yaml", text + "#");
  EXPECT_EQ(tree.error(), "offcpud.yaml: is larger than the limit of 256 KiB");
}

TEST(ConfigLoader, DropInDirectoriesAreBoundedAndChecked) {
  const ConfigTree tree;
  tree.write("offcpud.yaml", "max_series: 12\n");
  tree.write("conf.d", "");
  EXPECT_EQ(tree.error(), "conf.d: is not a directory");
  std::filesystem::remove(tree.path("conf.d"));

  for (int i = 100; i < 200; ++i) {
    tree.write("conf.d/" + std::to_string(i) + ".yaml", "max_series: " + std::to_string(i));
  }
  EXPECT_EQ(loaded(tree.sources()).max_series, 199U);
  tree.write("conf.d/200.yaml", "max_series: 200");
  EXPECT_EQ(tree.error(), "conf.d: holds more than 100 .yaml files");
  std::filesystem::remove(tree.path("conf.d/200.yaml"));

  tree.write("conf.d/more.yml", "max_series: 12");
  EXPECT_EQ(tree.error(),
            "conf.d/more.yml: is not read, because its name does not end in .yaml; rename it");
  std::filesystem::remove(tree.path("conf.d/more.yml"));
  tree.write("conf.d/150.yaml~", "what an editor leaves");
  EXPECT_EQ(loaded(tree.sources()).max_series, 199U);

  tree.write("conf.d/150.yaml", "max_series: 12\nlinger: soon\n");
  EXPECT_TRUE(tree.error().starts_with("conf.d/150.yaml:2: linger: \"soon\"")) << tree.error();
  tree.write("conf.d/150.yaml", "");
  EXPECT_TRUE(tree.error().starts_with("conf.d/150.yaml: the file is empty;")) << tree.error();
}

}  // namespace
}  // namespace offcpud
