// SPDX-License-Identifier: Apache-2.0
#include "config/config_loader.h"

#include <map>
#include <string_view>
#include <utility>

#include "base/printable.h"
#include "config/config_files.h"
#include "config/config_schema.h"
#include "config/list_value.h"
#include "config/option_value.h"
#include "config/yaml_settings.h"

namespace offcpud {
namespace {

namespace fs = std::filesystem;
using Kind = YamlSetting::Kind;

Error refusal(const std::string& where, const std::string& what) {
  return Error(where + ": " + what, ErrorKind::Configuration);
}

std::string unknown_option(std::string_view key) {
  const std::string_view nearest = nearest_key(key);
  if (!nearest.empty()) return "unknown option; did you mean " + std::string(nearest) + "?";
  std::string text = "unknown option; the options are ";
  for (const Option& option : config_options()) text.append(option.key).append(", ");
  text.resize(text.size() - 2);
  return text;
}

std::string_view kind_text(Kind kind) {
  switch (kind) {
    case Kind::Nothing:
      return "has no value";
    case Kind::List:
      return "is a list";
    case Kind::Group:
      return "is a map";
    case Kind::Value:
      break;
  }
  return "is a single value";
}

// The configuration as it grows source by source.
class Draft {
 public:
  // `where` says where the value was found, including the key: "/etc/x.yaml:3: linger". A list in a
  // file is set below, item by item.
  Status set(const std::string& where, const Option& option, std::string_view text) {
    auto status = set_option(config_, option, text);
    if (!status) return std::move(status).error().with(where);
    origins_.insert_or_assign(option.key, where);
    return {};
  }

  // `origin` is the file; the setting knows its lines.
  Status set_from_file(const std::string& origin, const YamlSetting& setting) {
    const auto at_line = [&](std::size_t line) {
      return origin + ":" + std::to_string(line) + ": " + excerpt(setting.key);
    };
    const std::string where = at_line(setting.line);
    const Option* const option = find_option(setting.key);
    if (option != nullptr && is_list(*option) && setting.kind == Kind::List) {
      TRY_VOID(set_list(config_, *option, setting.items,
                        [&](std::size_t line) { return line == 0 ? where : at_line(line); }));
      origins_.insert_or_assign(option->key, where);
      return {};
    }
    return set(where, setting);
  }

  Status set(const std::string& where, const YamlSetting& setting) {
    const Option* const option = find_option(setting.key);
    const bool scalar_in_place_of_list = option != nullptr && is_list(*option) && setting.line != 0;
    if (option != nullptr && setting.kind == Kind::Value && !scalar_in_place_of_list) {
      return set(where, *option, setting.value);
    }
    if (option != nullptr) {
      const std::string problem(kind_text(setting.kind));
      return refusal(where, problem + "; use " + allowed_values(*option));
    }
    if (is_option_group(setting.key)) {
      if (setting.kind == Kind::Group) return {};
      return refusal(where, std::string(kind_text(setting.kind)) + "; use a map of options");
    }
    return refusal(where, unknown_option(setting.key));
  }

  Result<Config> finish() && {
    if (const auto conflict = find_conflict(config_)) {
      auto origin = origins_.find(conflict->key);
      if (origin == origins_.end()) origin = origins_.find(conflict->other_key);
      return refusal(origin->second, conflict->sentence);  // the defaults do not conflict
    }
    return std::move(config_);
  }

 private:
  Config config_;
  std::map<std::string_view, std::string> origins_;  // key to where its value was found
};

Status apply_text(Draft& draft, const fs::path& path, const std::string& text) {
  const std::string origin = printable(path.native());
  TRY(const auto settings, parse_yaml_settings(text, origin));
  for (const YamlSetting& setting : settings) {
    TRY_VOID(draft.set_from_file(origin, setting));
  }
  return {};
}

Status apply_files(Draft& draft, const ConfigSources& sources) {
  TRY(const auto main_text, read_config_file(sources.file));
  if (main_text) {
    TRY_VOID(apply_text(draft, sources.file, *main_text));
  } else if (sources.file_required) {
    return refusal(printable(sources.file.native()),
                   std::string("does not exist; create it, or leave out --config to use ") +
                       kDefaultConfigFile);
  }
  TRY(const auto drop_ins, list_drop_ins(sources.file.parent_path() / "conf.d"));
  for (const fs::path& path : drop_ins) {
    TRY(const auto text, read_config_file(path));
    if (text) TRY_VOID(apply_text(draft, path, *text));  // removed since it was listed
  }
  return {};
}

Status apply_argument(Draft& draft, const std::string& argument) {
  const auto equals = argument.find('=');
  if (equals == std::string::npos || equals == 0) {
    // What follows a key may be a value, and that a secret.
    const std::string key = argument.substr(0, argument.find_first_of(":= "));
    return Error("--set " + quotation(key) + ": write KEY=VALUE, such as pass_interval=5s",
                 ErrorKind::Usage);
  }
  return draft.set("--set " + excerpt(argument.substr(0, equals)),
                   YamlSetting{.key = argument.substr(0, equals),
                               .kind = Kind::Value,
                               .value = argument.substr(equals + 1),
                               .line = 0});
}

Status apply_override(Draft& draft, const std::string& flag, std::string_view key,
                      const std::optional<std::string>& text) {
  if (!text) return {};
  return draft.set(flag, *find_option(key), *text);
}

}  // namespace

Result<Config> load_config(const ConfigSources& sources) {
  Draft draft;
  TRY_VOID(apply_files(draft, sources));
  for (const std::string& argument : sources.settings) TRY_VOID(apply_argument(draft, argument));
  TRY_VOID(apply_override(draft, "--listen", "listen", sources.listen));
  TRY_VOID(apply_override(draft, "--state-dir", "state_dir", sources.state_dir));
  return std::move(draft).finish();
}

}  // namespace offcpud
