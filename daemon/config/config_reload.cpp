// SPDX-License-Identifier: Apache-2.0
#include "config/config_reload.h"

#include "config/config_schema.h"

namespace offcpud {
namespace {

bool same_value(const Option& option, const Config& a, const Config& b) {
  return std::visit([&](const auto& type) { return type.value.in(a) == type.value.in(b); },
                    option.type);
}

}  // namespace

std::vector<std::string> keys_needing_restart(const Config& running, const Config& wanted) {
  std::vector<std::string> keys;
  for (const Option& option : config_options()) {
    if (option.takes_effect != TakesEffect::OnRestart) continue;
    if (!same_value(option, running, wanted)) keys.emplace_back(option.key);
  }
  return keys;
}

Config config_after_reload(const Config& running, const Config& wanted) {
  Config config = wanted;
  for (const Option& option : config_options()) {
    if (option.takes_effect != TakesEffect::OnRestart) continue;
    std::visit([&](const auto& type) { type.value.mutable_in(config) = type.value.in(running); },
               option.type);
  }
  return config;
}

}  // namespace offcpud
