// SPDX-License-Identifier: Apache-2.0
#include "config/config_loader.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/printable.h"
#include "config/config_files.h"
#include "config/config_schema.h"
#include "config/listen_address.h"
#include "config/yaml_settings.h"

namespace offcpud {
namespace {

namespace fs = std::filesystem;

// The names that may stand where the unknown one does: the options of its group, or the options and
// groups of the top level.
std::vector<std::string_view> names_beside(std::string_view name) {
  std::vector<std::string_view> known = names_of(config_options());
  const std::string_view group = name.substr(0, name.find('.'));
  if (group.size() < name.size() && is_group(config_options(), group)) {
    std::erase_if(known, [&](std::string_view each) {
      return !each.starts_with(group) || !each.substr(group.size()).starts_with('.');
    });
    return known;
  }
  for (std::string_view& each : known) each = each.substr(0, each.find('.'));
  known.erase(std::unique(known.begin(), known.end()), known.end());  // a group is in one piece
  return known;
}

Error unknown_option(const Position& position, std::string_view name) {
  return position.refusal("unknown option; the options are " + enumeration(names_beside(name)));
}

// A configuration to which sources are applied, one after the other.
class LayeredConfig {
 public:
  Status set_from_file(const std::string& file, const YamlSetting& node) {
    const Position position{file, node.line, excerpt(node.key)};
    const Option* const option = find_option(node.key);
    if (option != nullptr) {
      TRY_VOID(set_from_yaml(config_, *option, node, position));
      origins_.insert_or_assign(option->name, position);
      return {};
    }
    if (!is_group(config_options(), node.key)) return unknown_option(position, node.key);
    if (node.kind == YamlKind::Group) return {};
    return position.refusal(std::string(kind_text(node.kind)) + "; use a map of options");
  }

  Status set_from_argument(const Position& position, std::string_view name, std::string_view text) {
    const Option* const option = find_option(name);
    if (option == nullptr) return unknown_option(position, name);
    const Status status = option->parse(config_, text);
    if (!status) return position.refusal(status.error().message());
    origins_.insert_or_assign(option->name, position);
    return {};
  }

  // Where the option was set last; nullptr: nowhere.
  [[nodiscard]] const Position* position_of(std::string_view option) const {
    const auto found = origins_.find(option);
    return found == origins_.end() ? nullptr : &found->second;
  }

  Result<Config> finish() && {
    if (const auto conflict = find_conflict(config_)) {
      auto origin = origins_.find(conflict->key);
      if (origin == origins_.end()) origin = origins_.find(conflict->other_key);
      return origin->second.refusal(conflict->sentence);  // the defaults never conflict
    }
    return std::move(config_);
  }

 private:
  Config config_;
  std::map<std::string_view, Position> origins_;  // where each option's value was found
};

Status apply_text(LayeredConfig& config, const fs::path& path, const std::string& text) {
  const std::string origin = printable(path.native());
  TRY(const auto settings, parse_yaml_settings(text, origin));
  for (const YamlSetting& setting : settings) {
    TRY_VOID(config.set_from_file(origin, setting));
  }
  return {};
}

Status apply_files(LayeredConfig& config, const ConfigSources& sources) {
  TRY(const auto main_text, read_config_file(sources.file));
  if (main_text) {
    TRY_VOID(apply_text(config, sources.file, *main_text));
  } else if (sources.file_required) {
    return Error(
        printable(sources.file.native()) +
            ": does not exist; create it, or leave out --config: without a file all options "
            "have their defaults",
        ErrorKind::Configuration);
  }
  TRY(const auto drop_ins, list_drop_ins(sources.file.parent_path() / "conf.d"));
  for (const fs::path& path : drop_ins) {
    TRY(const auto text, read_config_file(path));
    if (text) TRY_VOID(apply_text(config, path, *text));  // none: removed since it was listed
  }
  return {};
}

// The text of a value that is in quotes, as the file may have it: of `""` nothing.
std::string_view unquoted(std::string_view value) {
  constexpr std::string_view kDouble = "\"", kSingle = "'";
  for (const std::string_view quote : {kDouble, kSingle}) {
    if (value.size() < 2 || !value.starts_with(quote) || !value.ends_with(quote)) continue;
    const std::string_view inner = value.substr(1, value.size() - 2);
    const bool is_plain = inner.find_first_of(quote == kDouble ? "\"\\" : "'") == inner.npos;
    if (is_plain) return inner;
  }
  return value;
}

Status apply_argument(LayeredConfig& config, const std::string& argument) {
  const auto equals = argument.find('=');
  if (equals == std::string::npos || equals == 0) {
    // Quotes only the key: what follows may be a value, even a secret.
    const std::string key = argument.substr(0, argument.find_first_of(":= "));
    return Error("--set " + quotation(key) + ": write KEY=VALUE, such as pass_interval=5s",
                 ErrorKind::Usage);
  }
  const std::string name = argument.substr(0, equals);
  return config.set_from_argument({.name = "--set " + excerpt(name)}, name,
                                  unquoted(std::string_view(argument).substr(equals + 1)));
}

Status apply_override(LayeredConfig& config, const std::string& flag, std::string_view key,
                      const std::optional<std::string>& text) {
  if (!text) return {};
  return config.set_from_argument({.name = flag}, key, *text);
}

Status apply_all(LayeredConfig& config, const ConfigSources& sources) {
  TRY_VOID(apply_files(config, sources));
  for (const std::string& argument : sources.settings) TRY_VOID(apply_argument(config, argument));
  TRY_VOID(apply_override(config, "--listen", "listen", sources.listen));
  return apply_override(config, "--state-dir", "state_dir", sources.state_dir);
}

// The host of push.url, which is valid or empty.
std::string_view push_host(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  const std::string_view rest = url.substr(scheme + 3);
  if (rest.starts_with('[')) return rest.substr(1, rest.find(']') - 1);
  return rest.substr(0, rest.find_first_of(":/"));
}

}  // namespace

Result<Config> load_config(const ConfigSources& sources) {
  LayeredConfig config;
  TRY_VOID(apply_all(config, sources));
  return std::move(config).finish();
}

Status find_web_config_file(const Config& config, const ConfigSources& sources) {
  const fs::path& file = config.web.config_file;
  std::error_code unknown;  // reading it says what is wrong then
  if (file.empty() || fs::exists(file, unknown) || unknown) return {};
  LayeredConfig again;
  TRY_VOID(apply_all(again, sources));
  const Position* const position = again.position_of("web.config_file");
  if (position == nullptr) return {};  // changed in between
  return position->refusal("there is no " + printable(file.native()) + "; " +
                           std::string(kRestoreWebConfig));
}

std::string exposed_address(const Config& config) {
  const auto address = parse_listen_address(config.listen);
  return address && address->is_local() ? std::string() : config.listen;
}

Status check_absent_file(const Config& config, const ConfigSources& sources,
                         std::string_view reached_at) {
  std::error_code ignored;  // load_config() has said what is wrong
  if (sources.file_required || fs::exists(sources.file, ignored)) return {};
  const auto refusal = [&](const std::string& danger) {
    return Error(printable(sources.file.native()) + ": does not exist; " + danger +
                     "; put it back, or create it with one line of comment to do without",
                 ErrorKind::Configuration);
  };
  if (!reached_at.empty() && config.web.config_file.empty()) {
    return refusal("other hosts reach " + std::string(reached_at) +
                   ", and it may have set what keeps them out (web.config_file)");
  }
  if (!config.push.url.empty() && !is_loopback_host(push_host(config.push.url))) {
    return refusal(
        "push.url sends stacks to another host, and it may have set which ones to leave "
        "out (snapshots.cgroups)");
  }
  return {};
}

}  // namespace offcpud
