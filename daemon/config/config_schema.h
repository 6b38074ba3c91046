// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/config.h"
#include "config/setting.h"

namespace offcpud {

enum class TakesEffect { OnReload, OnRestart };

// One option of the configuration. Its name is its path in the YAML file: the keys of nested maps,
// joined by dots.
struct Option : Setting<Config> {
  TakesEffect takes_effect;
  std::function<void(Config& to, const Config& from)> copy;  // of this option's value
};

// Every option once, in the order of the documentation.
std::span<const Option> config_options();

// The option of that name, or null.
const Option* find_option(std::string_view name);

// The named options whose values are not the defaults, as one text: "snapshots.reasons=[disk];
// linger=10s".
std::string settings_text(const Config& config, std::span<const std::string_view> names);

// Two values that are allowed by themselves but not together.
struct Conflict {
  std::string_view key;
  std::string_view other_key;
  std::string sentence;
};
std::optional<Conflict> find_conflict(const Config& config);

}  // namespace offcpud
