// SPDX-License-Identifier: Apache-2.0
// KEY=VALUE of the command line, for every option.
#include "config/config_schema.h"
#include "fuzz.h"
#include "text.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  const std::size_t equals = std::min(input.find('='), input.size());
  const std::string_view key = input.substr(0, equals);
  const Option* option = find_option(key);
  const auto options = config_options();
  if (option == nullptr) {
    (void)is_group(options, key);
    option = &options[key.size() % options.size()];
  }
  Config config;
  const std::string before = option->text(config);
  const auto status = option->parse(config, input.substr(std::min(equals + 1, input.size())));
  if (!status) {
    require(is_printable(status.error().message()), "an error is one line of text");
    return require(config == Config(), "and the option untouched");
  }
  const std::string text = option->text(config);
  require(is_printable(text), "a value is one line of text");
  Config again;
  require(static_cast<bool>(option->parse(again, text)), "what is written is accepted");
  require(again == config, "and means the same");
  if (const auto conflict = find_conflict(config)) require(!conflict->key.empty(), "it is named");
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const Option& option : config_options()) {
    all.push_back(std::string(option.name) + "=" + option.text(Config()));
  }
  all.emplace_back("stalls.rules=[{cgroup: '/a.*', comm: nginx, threshold: 5s}, {reason: disk}]");
  all.emplace_back("processes.rules=[{exe: '/usr/bin/.*', unit: 'a\\.service'}]");
  all.emplace_back("snapshots.cgroups=[{cgroup: '/user\\.slice.*', keep: false}]");
  all.emplace_back("snapshots.reasons=[disk, lock]");
  all.emplace_back("push.labels=[env=prod, zone=a]");
  all.emplace_back("push.url=https://pyroscope.example.org:4040/base");
  all.emplace_back("snapshots.min_duration=100us");
  return all;
}

}  // namespace offcpud::fuzz
