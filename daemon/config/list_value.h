// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/result.h"
#include "config/config_schema.h"
#include "config/yaml_settings.h"

namespace offcpud {

// Values of the options that are lists: is_list() of config_schema.h.

// Puts the items into the option's member of `config`, which is untouched on error. `at_line` says
// where a line of the text is, to start an error with: "/etc/x.yaml:7: stalls.rules". The rest
// names the item, what is wrong and what is allowed.
Status set_list(Config& config, const Option& option, std::span<const YamlItem> items,
                const std::function<std::string(std::size_t line)>& at_line);

// The list on one line of YAML, as set_list reads it back.
std::string list_text(const Config& config, const Option& option);

// What is allowed, to follow "use".
std::string allowed_items(const DurationListOption& option);
std::string allowed_items(const NameListOption& option);
std::string allowed_items(const RulesOption<StallRule>& option);
std::string allowed_items(const RulesOption<ProcessRule>& option);
std::string allowed_items(const RulesOption<CgroupRule>& option);
std::string allowed_items(const WordSetOption& option);

// `value` as YAML reads it back: in quotes unless it is one plain word. "[::1]:80" would be a list.
std::string yaml_scalar(const std::string& value);

}  // namespace offcpud
