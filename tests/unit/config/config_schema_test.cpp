// SPDX-License-Identifier: Apache-2.0
#include "config/config_schema.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "config/config_reload.h"

namespace offcpud {
namespace {

TEST(ConfigSchema, KeysAreUniqueAndDescribed) {
  std::set<std::string_view> keys;
  for (const Option& option : config_options()) {
    EXPECT_TRUE(keys.insert(option.name).second) << option.name;
    EXPECT_TRUE(option.help.ends_with('.')) << option.name;
    EXPECT_FALSE(option.allowed.empty()) << option.name;
    EXPECT_EQ(find_option(option.name), &option);
  }
}

TEST(ConfigSchema, EveryDefaultIsAllowedAndReadsBack) {
  for (const Option& option : config_options()) {
    Config config;
    const auto status = option.parse(config, option.text(Config{}));
    EXPECT_TRUE(status) << option.name;
    EXPECT_EQ(config, Config{}) << option.name;
  }
}

// A configuration in which no option has its default.
Config other_config() {
  return {.listen = "unix:/a",
          .state_dir = "/b",
          .log_level = "debug",
          .pass_interval = std::chrono::milliseconds(250),
          .min_pass_interval = std::chrono::milliseconds(20),
          .linger = std::chrono::seconds(11),
          .max_cgroups = 17,
          .max_takers = 9,
          .disk_loads = "off",
          .max_series = 18,
          .classic_buckets = 14,
          .walk_cpu_budget = std::chrono::milliseconds(21),
          .stalls = {.threshold = std::chrono::seconds(12),
                     .rules = {{.cgroup = "/c.*",
                                .comm = "d",
                                .reason = "poll",
                                .threshold = std::chrono::seconds(13)}},
                     .over = {std::chrono::milliseconds(350)},
                     .keep = 19,
                     .unusual = 30},
          .processes = {.max = 65,
                        .top = 20,
                        .rules = {{.comm = "e", .exe = "f", .unit = "g", .cgroup = "h"}}},
          .snapshots = {.enabled = false,
                        .interval = std::chrono::seconds(22),
                        .keep_for = std::chrono::seconds(90),
                        .keep_bytes = std::uint64_t{3} << 20U,
                        .stacks_per_second = 201,
                        .reasons = 0x5,
                        .cgroups = {{.cgroup = "/i.*", .keep = false}},
                        .min_duration = std::chrono::microseconds(23),
                        .max_duration = std::chrono::microseconds(1'000'024),
                        .kernel_threads = false,
                        .states = 0x2},
          .goroutines = {.enabled = false,
                         .interval = std::chrono::milliseconds(2'000),
                         .cpu_budget = std::chrono::milliseconds(25)},
          .web = {.config_file = "/c",
                  .details = "off",
                  .hosts = {"i"},
                  .socket_group = "j",
                  .local_socket = "/l"},
          .push = {.url = "http://k",
                   .tenant = "l",
                   .application = "m",
                   .labels = {"n=o"},
                   .username = "p",
                   .password_file = "/q",
                   .token_file = "/r",
                   .ca_file = "/s",
                   .timeout = std::chrono::seconds(25),
                   .queue_bytes = std::uint64_t{4} << 20U}};
}

// Options are members of Config one to one: what the table misses would keep its default for ever.
TEST(ConfigSchema, CoversEveryMemberOfConfig) {
  const Config other = other_config();
  Config copy;
  for (const Option& option : config_options()) {
    EXPECT_NE(option.text(other), option.text(Config{})) << option.name;
    EXPECT_TRUE(option.parse(copy, option.text(other))) << option.name;
  }
  EXPECT_EQ(copy, other);
}

constexpr struct {
  const char* key;
  const char* value;
  bool allowed;
} kBounds[] = {
    {"snapshots.enabled", "false", true},
    {"snapshots.enabled", "no", false},
    {"snapshots.enabled", "1", false},
    {"snapshots.interval", "1s", true},
    {"snapshots.interval", "999ms", false},
    {"snapshots.interval", "1h", true},
    {"snapshots.interval", "61min", false},
    {"snapshots.keep_for", "90d", true},
    {"snapshots.keep_for", "59s", false},
    {"snapshots.keep_bytes", "1MiB", true},
    {"snapshots.keep_bytes", "1023KiB", false},
    {"snapshots.keep_bytes", "1TiB", true},
    {"snapshots.keep_bytes", "1025GiB", false},
    {"snapshots.keep_bytes", "1000000", false},
    {"snapshots.stacks_per_second", "1", true},
    {"snapshots.stacks_per_second", "0", false},
    {"snapshots.stacks_per_second", "100000", true},
    {"snapshots.stacks_per_second", "100001", false},
    {"snapshots.reasons", "[disk]", true},
    {"snapshots.reasons", "[other, disk]", true},
    {"snapshots.reasons", "[wakeup]", false},
    {"snapshots.reasons", "[]", false},
    {"snapshots.reasons", "disk", false},
    {"snapshots.states", "[uninterruptible]", true},
    {"snapshots.states", "[2]", false},
    {"snapshots.states", "[stopped, stopped]", false},
    {"snapshots.cgroups", "[{keep: false}]", true},
    {"snapshots.cgroups", "[{cgroup: /a.*, keep: true}, {keep: false}]", true},
    {"snapshots.cgroups", "[{cgroup: /a.*}]", false},
    {"snapshots.cgroups", "[{cgroup: /a.*, keep: yes}]", false},
    {"snapshots.min_duration", "none", true},
    {"snapshots.min_duration", "1us", true},
    {"snapshots.min_duration", "0us", false},
    {"snapshots.min_duration", "1d", true},
    {"snapshots.min_duration", "1d1us", false},
    {"snapshots.max_duration", "2ms500us", true},
    {"snapshots.max_duration", "1", false},
    {"snapshots.kernel_threads", "false", true},
    {"snapshots.kernel_threads", "0", false},
    {"push.url", "", true},
    {"push.url", "https://a.example:4040/b/c", true},
    {"push.url", "http://[::1]:4040", true},
    {"push.url", "http://127.0.0.1", true},
    {"push.url", "a.example:4040", false},
    {"push.url", "ftp://a", false},
    {"push.url", "HTTP://a", false},
    {"push.url", "http://", false},
    {"push.url", "http:///b", false},
    {"push.url", "http://a:0", false},
    {"push.url", "http://a:65536", false},
    {"push.url", "http://a:b", false},
    {"push.url", "http://[::1", false},
    {"push.url", "http://a?b=c", false},
    {"push.url", "http://a/#b", false},
    {"push.url", "http://a b", false},
    {"push.url", "http://u:secret@a", false},
    {"push.tenant", "team-7", true},
    {"push.tenant", "a b", false},
    {"push.tenant", "a|b", false},
    {"push.application", "a.b/c-d_e", true},
    {"push.application", "", false},
    {"push.application", "a{b=c}", false},
    {"push.labels", "[]", true},
    {"push.labels", "[env=prod, zone=a b=c]", true},
    {"push.labels", "[env]", false},
    {"push.labels", "[env=]", false},
    {"push.labels", "[=prod]", false},
    {"push.labels", "[7a=b]", false},
    {"push.labels", "[a-b=c]", false},
    {"push.labels", "[__a=b]", false},
    {"push.labels", "[service_name=b]", false},
    {"push.labels", "['a=b}']", false},
    {"push.labels", "['a=b,c']", false},
    {"push.labels", "['a= b']", false},
    {"push.username", "a:b", false},
    {"push.password_file", "a", false},
    {"push.token_file", "/a", true},
    {"push.ca_file", "a", false},
    {"push.timeout", "1s", true},
    {"push.timeout", "5min", true},
    {"push.timeout", "999ms", false},
    {"push.timeout", "301s", false},
    {"push.queue_bytes", "64KiB", true},
    {"push.queue_bytes", "63KiB", false},
    {"push.queue_bytes", "1GiB", true},
    {"push.queue_bytes", "1025MiB", false},
    {"pass_interval", "100ms", true},
    {"pass_interval", "99ms", false},
    {"pass_interval", "5min", true},
    {"pass_interval", "5min1ms", false},
    {"min_pass_interval", "10ms", true},
    {"min_pass_interval", "9ms", false},
    {"linger", "10s", true},
    {"linger", "9s", false},
    {"linger", "7d", true},
    {"linger", "7d1s", false},
    {"linger", "10s500ms", false},
    {"max_cgroups", "16", true},
    {"max_cgroups", "15", false},
    {"max_cgroups", "16384", true},
    {"max_cgroups", "16385", false},
    {"max_series", "10", true},
    {"max_series", "1000001", false},
    {"classic_buckets", "14", true},
    {"classic_buckets", "15", false},
    {"log_level", "warning", true},
    {"log_level", "warn", false},
    {"log_level", "INFO", false},
    {"state_dir", "/a/b", true},
    {"state_dir", "a/b", false},
    {"state_dir", "/", false},
    {"state_dir", "/a/../b", false},
    {"state_dir", "/a/..b", true},
    {"listen", "localhost:1", true},
    {"walk_cpu_budget", "5ms", true},
    {"walk_cpu_budget", "4ms", false},
    {"walk_cpu_budget", "1s1ms", false},
    {"stalls.threshold", "1d", true},
    {"stalls.threshold", "1d1s", false},
    {"stalls.threshold", "1s500ms", false},
    {"stalls.over", "[100ms]", true},
    {"stalls.over", "[99ms]", false},
    {"stalls.over", "[1s, 1d]", true},
    {"stalls.over", "[1s, 1d1ms]", false},
    {"stalls.over", "1s", false},
    {"stalls.over", "[10s, 1s]", false},
    {"stalls.over", "[1s, 2s, 3s, 4s, 5s, 6s, 7s, 8s]", true},
    {"stalls.keep", "0", true},
    {"stalls.keep", "10001", false},
    {"stalls.unusual", "0", true},
    {"stalls.unusual", "1000001", false},
    {"stalls.rules", "[{threshold: never}]", true},
    {"stalls.rules", "[{threshold: 1s}, {comm: a|b, threshold: 1d}]", true},
    {"stalls.rules", "[{threshold: 1d1s}]", false},
    {"stalls.rules", "[{threshold: 1500ms}]", false},
    {"stalls.rules", "[{reason: wakeup, threshold: 1s}]", false},
    {"processes.max", "64", true},
    {"processes.max", "63", false},
    {"processes.max", "65537", false},
    {"processes.top", "0", true},
    {"processes.top", "1001", false},
    {"processes.rules", "[]", true},
    {"processes.rules", "[{exe: /usr/bin/.*}]", true},
    {"processes.rules", "[{reason: disk}]", false},
};

TEST(ConfigSchema, BoundsAreInclusive) {
  for (const auto& [key, value, allowed] : kBounds) {
    Config config;
    const Status status = find_option(key)->parse(config, value);
    EXPECT_EQ(static_cast<bool>(status), allowed) << key << " " << value;
    if (allowed) continue;
    EXPECT_EQ(config, Config{}) << "an error leaves the configuration alone";
  }
}

TEST(ConfigSchema, ErrorsQuoteTheValueAndSayWhatIsAllowed) {
  const struct {
    const char* key;
    const char* value;
    const char* error;
  } cases[] = {
      {"pass_interval", "10",
       "\"10\" has no unit (ms, s, min, h, d); use a duration such as 500ms, 10s, 10min, 1h (100ms "
       "to 5min)"},
      {"max_series", "4e3", "\"4e3\" is not a whole number; use a whole number from 10 to 1000000"},
      {"max_series", "-1", "\"-1\" is not a whole number; use a whole number from 10 to 1000000"},
      {"max_series", "", "\"\" is not a whole number; use a whole number from 10 to 1000000"},
      {"max_series", "99999999999",
       "\"99999999999\" is too large; use a whole number from 10 to 1000000"},
      {"classic_buckets", "20", "\"20\" is not allowed; use 14 or 28"},
      {"log_level", "loud", "\"loud\" is not known; use one of trace, debug, info, warning, error"},
      {"state_dir", "/a\nb",
       "\"/a\\x0ab\" contains a control character or is not UTF-8; use an absolute path such as "
       "/var/lib/offcpud"},
      {"stalls.over", "[1s",
       "not valid YAML: a quotation or bracket is still open at the end of the "
       "value; use a list of 1 to 8 rising durations such as [1s, 10s] (100ms to 1d)"},
      {"stalls.rules", "[{comm: '*'}]",
       "entry 1: comm: \"*\" is not a regular expression (no argument for repetition operator: *); "
       "use a regular expression of RE2 for the whole text, up to 512 bytes"},
      {"processes.rules", "nginx",
       "\"nginx\" is not a list; use a list of maps with the keys comm, "
       "exe, unit, cgroup, 100 at most"},
  };
  for (const auto& [key, value, error] : cases) {
    Config config;
    const Status status = find_option(key)->parse(config, value);
    ASSERT_FALSE(status) << key << " " << value;
    EXPECT_EQ(status.error().message(), error);
  }
}

TEST(ConfigSchema, NoErrorRepeatsWhatMayBeAPassword) {
  for (const char* url :
       {"htps://user:SECRETPW@host:4040", "user:SECRETPW@host:4040", "https://user:SEC/RETPW@host",
        "https://host:4040/?token=SECRETPW", "https://alice:S3cret#@pyro:4040",
        "https://alice:4040/SECRETPW@host", "https://host:SECRETPW", "https://host/ SECRETPW",
        "https://user:SECRETPW@host\n"}) {
    Config config;
    const Status status = find_option("push.url")->parse(config, url);
    ASSERT_FALSE(status) << url;
    for (const char* part : {"SEC", "RETPW", "S3cret", "alice", "user:"}) {
      EXPECT_EQ(status.error().message().find(part), std::string::npos) << status.error().message();
    }
  }
}

TEST(ConfigSchema, RulesAreBounded) {
  std::string rules;
  for (int i = 0; i < 101; ++i) rules += "{threshold: 1s},";
  Config config;
  const Status status = find_option("stalls.rules")->parse(config, "[" + rules + "]");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(), "entry 101: is more than the 100 that are allowed");
  const std::string pattern(513, 'a');
  EXPECT_FALSE(find_option("processes.rules")->parse(config, "[{comm: " + pattern + "}]"));
  // Small to write, large to compile.
  EXPECT_FALSE(find_option("processes.rules")->parse(config, "[{comm: '((a{100}){100}){100}'}]"));
  EXPECT_EQ(config, Config{});
}

TEST(ConfigSchema, TheShortestPassMayNotExceedThePass) {
  Config config;
  EXPECT_FALSE(find_conflict(config));
  config.min_pass_interval = config.pass_interval;
  EXPECT_FALSE(find_conflict(config));
  config.min_pass_interval += std::chrono::milliseconds(1);
  ASSERT_TRUE(find_conflict(config));
  EXPECT_EQ(find_conflict(config)->sentence,
            "min_pass_interval (10s1ms) is longer than pass_interval (10s); lower the first or "
            "raise the second");
}

TEST(ConfigReload, KeepsWhatNeedsARestartAndNamesIt) {
  const Config running;
  Config wanted;
  wanted.log_level = "debug";
  wanted.pass_interval = std::chrono::seconds(5);
  wanted.min_pass_interval = std::chrono::seconds(2);
  wanted.linger = std::chrono::seconds(60);
  wanted.max_series = 100;
  wanted.classic_buckets = 14;
  wanted.walk_cpu_budget = std::chrono::milliseconds(10);
  wanted.stalls.rules = {{.cgroup = "", .comm = "a", .reason = "", .threshold = {}}};
  wanted.stalls.over = {std::chrono::seconds(5)};
  wanted.processes.top = 5;
  wanted.processes.rules = {{.comm = "a", .exe = "", .unit = "", .cgroup = ""}};
  EXPECT_TRUE(keys_needing_restart(running, wanted).empty());
  EXPECT_EQ(config_after_reload(running, wanted), wanted);

  Config moved = wanted;
  moved.listen = "127.0.0.1:1";
  moved.state_dir = "/elsewhere";
  moved.max_cgroups = 64;
  moved.processes.max = 128;
  EXPECT_EQ(keys_needing_restart(running, moved),
            (std::vector<std::string>{"listen", "state_dir", "max_cgroups", "processes.max"}));
  EXPECT_EQ(config_after_reload(running, moved), wanted);
}

}  // namespace
}  // namespace offcpud
