// SPDX-License-Identifier: Apache-2.0
#include "manual/manual_parts.h"

#include <algorithm>
#include <span>

#include "base/hist_kind.h"
#include "config/config_files.h"
#include "config/config_loader.h"
#include "config/config_schema.h"
#include "config/rule_keys.h"
#include "manual/roff.h"
#include "metrics/metric_catalog.h"
#include "snapshot/push_outcome.h"
#include "snapshot/snapshot_failure.h"

namespace offcpud {
namespace {

std::string with_stop(std::string text) {
  if (!text.empty() && !text.ends_with('.')) text += '.';
  return text;
}

std::string option_tag(const OptionDoc& option) {
  std::string tag;
  for (const std::string& name : option.names) {
    if (!tag.empty()) tag += ", ";
    tag += option.positional ? roff_italic(name) : roff_bold(name);
  }
  if (!option.positional && !option.value.empty()) tag += " " + roff_italic(option.value);
  return tag;
}

std::string option_body(const OptionDoc& option) {
  std::string body = roff_text(with_stop(option.help));
  std::string choices;
  for (const std::string& choice : option.choices) {
    if (option.help.find(choice) != std::string::npos) continue;
    choices += (choices.empty() ? " One of " : ", ") + roff_bold(choice);
  }
  body += with_stop(choices);
  if (!option.default_value.empty()) body += " Default: " + roff_bold(option.default_value) + ".";
  return body;
}

// `[options]` and the positionals.
std::string synopsis(const CommandDoc& command) {
  std::string text = "[options]";
  for (const OptionDoc& option : command.options) {
    if (option.positional) text += " [" + roff_italic(option.names.front()) + "]";
  }
  return text;
}

std::string command_sections(const CommandDoc& program) {
  std::string out;
  for (CommandDoc command : program.commands) {
    std::erase_if(command.options, is_help);  // said once, for the program
    out += ".SS " + command.name + " " + synopsis(command) + "\n";
    out += roff_text(with_stop(command.help)) + "\n" + option_items(command);
  }
  return out;
}

std::string config_items() {
  const Config defaults;
  std::string out;
  for (const Option& option : config_options()) {
    const bool live = option.takes_effect == TakesEffect::OnReload;
    std::string body = roff_text(option.help);
    body += " Allowed: " + roff_text(with_stop(option.allowed));
    body += " Default: " + roff_bold(option.text(defaults)) + ".";
    body += live ? " Takes effect on a reload." : " Takes effect on a restart.";
    out += roff_item(roff_bold(option.name), body);
  }
  return out;
}

template <class Rule>
std::string rule_items(std::span<const Setting<Rule>> keys) {
  std::string out;
  for (const Setting<Rule>& key : keys) {
    out += roff_item(roff_bold(key.name), roff_text(with_stop(key.allowed)));
  }
  return out;
}

std::string bold_list(std::span<const std::string_view> names) {
  std::string out;
  for (const std::string_view name : names) out += (out.empty() ? "" : ", ") + roff_bold(name);
  return out;
}

std::string metric_items() {
  std::string out;
  for (const MetricDef& def : metric_catalog()) {
    std::string labels(def.labels);
    for (std::size_t at = 0; (at = labels.find(' ', at)) != std::string::npos; at += 2) {
      labels.replace(at, 1, ", ");
    }
    std::string body = roff_text(def.help);
    if (!labels.empty()) body += "\n.br\nLabels: " + roff_text(labels) + ".";
    out +=
        roff_item(roff_bold(def.name) + " (" + std::string(metric_type_name(def.type)) + ")", body);
  }
  return out;
}

}  // namespace

std::string option_items(const CommandDoc& command) {
  std::string out;
  for (const OptionDoc& option : command.options) {
    out += roff_item(option_tag(option), option_body(option));
  }
  return out;
}

ManualParts manual_parts(std::string_view version) {
  const CommandDoc ctl = ctl_command_doc();
  const std::span<const std::string_view> kinds = kHistKindNames;
  return {
      {"AT", "@"},
      {"VERSION", std::string(version)},
      {"DAEMON_OPTIONS", option_items(daemon_command_doc())},
      {"CTL_OPTIONS", option_items(ctl)},
      {"CTL_COMMANDS", command_sections(ctl)},
      {"CONFIG_FILE", roff_text(kDefaultConfigFile)},
      {"CONFIG_KIB", std::to_string(kMaxConfigFileBytes / 1024)},
      {"CONFIG_DROPINS", std::to_string(kMaxDropIns)},
      {"CONFIG_OPTIONS", config_items()},
      {"STALL_RULE_KEYS", rule_items(stall_rule_keys())},
      {"PROCESS_RULE_KEYS", rule_items(process_rule_keys())},
      {"CGROUP_RULE_KEYS", rule_items(cgroup_rule_keys())},
      {"METRICS", metric_items()},
      {"REASONS", bold_list(kinds.first(OFFCPUD_BLOCKED_KINDS))},
      {"CAUSES", bold_list(kinds.subspan(OFFCPUD_BLOCKED_KINDS))},
      {"TAKERS", bold_list(kTakerNames)},
      {"WAKERS", bold_list(kWakerNames)},
      {"SNAPSHOT_FAILURES", bold_list(kSnapshotFailureNames)},
      {"PUSH_RESULTS", bold_list(kPushResultNames)},
      {"PUSH_FAILURES", bold_list(kPushFailureNames)},
  };
}

Result<std::string> fill_manual_template(std::string_view text, const ManualParts& parts) {
  std::string out;
  while (true) {
    const std::size_t open = text.find('@');
    out += text.substr(0, open);
    if (open == std::string_view::npos) return out;
    const std::size_t close = text.find('@', open + 1);
    const std::string_view name = text.substr(open + 1, close - open - 1);
    const auto part = parts.find(name);
    if (close == std::string_view::npos || part == parts.end()) {
      const auto line = 1 + std::ranges::count(out, '\n');
      return Error("no part has the name of the mark @" + std::string(name.substr(0, 40)) +
                   "@, in line " + std::to_string(line));
    }
    // A part that is a list ends its own last line.
    const std::string_view rest = text.substr(close + 1);
    text = part->second.ends_with('\n') && rest.starts_with('\n') ? rest.substr(1) : rest;
    out += part->second;
  }
}

}  // namespace offcpud
