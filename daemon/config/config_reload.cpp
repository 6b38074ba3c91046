// SPDX-License-Identifier: Apache-2.0
#include "config/config_reload.h"

#include "config/config_schema.h"

namespace offcpud {
std::vector<std::string> keys_needing_restart(const Config& running, const Config& wanted) {
  std::vector<std::string> keys;
  for (const Option& option : config_options()) {
    if (option.takes_effect != TakesEffect::OnRestart) continue;
    if (option.text(running) != option.text(wanted)) keys.emplace_back(option.name);
  }
  return keys;
}

Config config_after_reload(const Config& running, const Config& wanted) {
  Config config = wanted;
  for (const Option& option : config_options()) {
    if (option.takes_effect == TakesEffect::OnRestart) option.copy(config, running);
  }
  return config;
}

}  // namespace offcpud
