// SPDX-License-Identifier: Apache-2.0
#include "config/config_schema.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "config/config_reload.h"
#include "config/option_value.h"

namespace offcpud {
namespace {

TEST(ConfigSchema, KeysAreUniqueAndDescribed) {
  std::set<std::string_view> keys;
  for (const Option& option : config_options()) {
    EXPECT_TRUE(keys.insert(option.key).second) << option.key;
    EXPECT_TRUE(option.help.ends_with('.')) << option.key;
    EXPECT_FALSE(allowed_values(option).empty()) << option.key;
    EXPECT_EQ(find_option(option.key), &option);
  }
}

TEST(ConfigSchema, EveryDefaultIsAllowedAndReadsBack) {
  for (const Option& option : config_options()) {
    Config config;
    const auto status = set_option(config, option, option_text(Config{}, option));
    EXPECT_TRUE(status) << option.key;
    EXPECT_EQ(config, Config{}) << option.key;
  }
}

// Options are members of Config one to one: what the table misses would keep its default for ever.
TEST(ConfigSchema, CoversEveryMemberOfConfig) {
  const Config other{.listen = "unix:/a",
                     .state_dir = "/b",
                     .log_level = "debug",
                     .pass_interval = std::chrono::milliseconds(250),
                     .min_pass_interval = std::chrono::milliseconds(20),
                     .linger = std::chrono::seconds(11),
                     .max_cgroups = 17,
                     .max_series = 18,
                     .classic_buckets = 14};
  Config copy;
  for (const Option& option : config_options()) {
    EXPECT_NE(option_text(other, option), option_text(Config{}, option)) << option.key;
    EXPECT_TRUE(set_option(copy, option, option_text(other, option))) << option.key;
  }
  EXPECT_EQ(copy, other);
}

TEST(ConfigSchema, BoundsAreInclusive) {
  const struct {
    const char* key;
    const char* value;
    bool allowed;
  } cases[] = {
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
  };
  for (const auto& [key, value, allowed] : cases) {
    Config config;
    const Status status = set_option(config, *find_option(key), value);
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
  };
  for (const auto& [key, value, error] : cases) {
    Config config;
    const Status status = set_option(config, *find_option(key), value);
    ASSERT_FALSE(status) << key << " " << value;
    EXPECT_EQ(status.error().message(), error);
  }
}

TEST(ConfigSchema, SuggestsTheNearestKey) {
  const struct {
    const char* typed;
    const char* meant;
  } cases[] = {{"pass_intervall", "pass_interval"},
               {"pass-interval", "pass_interval"},
               {"maxSeries", "max_series"},
               {"MAX_CGROUPS", "max_cgroups"},
               {"loglevel", "log_level"},
               {"lingr", "linger"},
               {"port", ""},
               {"", ""},
               {"x", ""}};
  for (const auto& [typed, meant] : cases) EXPECT_EQ(nearest_key(typed), meant) << typed;
  EXPECT_EQ(nearest_key(std::string(100'000, 'a')), "");
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
  EXPECT_TRUE(keys_needing_restart(running, wanted).empty());
  EXPECT_EQ(config_after_reload(running, wanted), wanted);

  Config moved = wanted;
  moved.listen = "127.0.0.1:1";
  moved.state_dir = "/elsewhere";
  moved.max_cgroups = 64;
  EXPECT_EQ(keys_needing_restart(running, moved),
            (std::vector<std::string>{"listen", "state_dir", "max_cgroups"}));
  EXPECT_EQ(config_after_reload(running, moved), wanted);
}

}  // namespace
}  // namespace offcpud
