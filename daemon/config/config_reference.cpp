// SPDX-License-Identifier: Apache-2.0
#include "config/config_reference.h"

#include "config/config_files.h"
#include "config/config_loader.h"
#include "config/config_schema.h"
#include "config/option_value.h"

namespace offcpud {
namespace {

constexpr std::string_view kIntroduction = R"(# Configuration

<!-- Generated from daemon/config/config_schema.cpp. After a change there:
     OFFCPUD_UPDATE_GOLDEN=1 build/bin/offcpud_unit_tests --gtest_filter='ConfigReference*' -->

A value comes from the last of these that sets it:

1. the default below;
2. the main file, `@FILE@` or the one named by `--config`;
3. the files `conf.d/*.yaml` beside the main file, in lexical order;
4. `--set KEY=VALUE`, in the order of the command line;
5. `--listen` and `--state-dir`.

The default main file may be absent; one named by `--config` may not. An unknown key, a key set twice
in one file, or a value that is not allowed is an error (exit code 78) that names file, line and key.
`offcpud --check-config` and `offcpuctl check-config` find them without starting anything.

The files are YAML: UTF-8, one document, a map of options, without anchors, aliases and tags. A dot
in a key below stands for a nested map. A file is at most @KIB@ KiB, `conf.d` holds at most @DROPINS@
files. A file of comments only sets nothing; a file that is empty is taken for a failed write and
refused. Durations are whole numbers with a unit (`ms`, `s`, `min`, `h`, `d`), combined from larger
to smaller: `500ms`, `10s`, `1h30min`.

A reload (`SIGHUP`, `systemctl reload offcpud`) reads the same sources again. If anything in them is
wrong, the running configuration stays. Options marked *restart* keep their value until the daemon
is restarted; the log names those that were changed.

| option | default | allowed | takes effect | meaning |
|---|---|---|---|---|
)";

void replace(std::string& text, std::string_view mark, const std::string& value) {
  text.replace(text.find(mark), mark.size(), value);
}

// `value` as YAML reads it back: in quotes unless it is one plain word. "[::1]:80" would be a list.
std::string yaml_scalar(const std::string& value) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._:-";
  constexpr std::string_view kPlainEnds = ":-.";  // not at either end
  const bool plain = value.find_first_not_of(kPlain) == std::string::npos && !value.empty() &&
                     kPlainEnds.find(value.front()) == std::string_view::npos &&
                     kPlainEnds.find(value.back()) == std::string_view::npos;
  if (plain) return value;
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

}  // namespace

std::string configuration_reference() {
  std::string text(kIntroduction);
  replace(text, "@FILE@", kDefaultConfigFile);
  replace(text, "@KIB@", std::to_string(kMaxConfigFileBytes / 1024));
  replace(text, "@DROPINS@", std::to_string(kMaxDropIns));
  const Config defaults;
  for (const Option& option : config_options()) {
    const bool live = option.takes_effect == TakesEffect::OnReload;
    text.append("| `").append(option.key).append("` | `").append(option_text(defaults, option));
    text.append("` | ").append(allowed_values(option)).append(live ? " | reload" : " | restart");
    text.append(" | ").append(option.help).append(" |\n");
  }
  return text;
}

std::string config_text(const Config& config) {
  std::string text;
  for (const Option& option : config_options()) {
    text.append(option.key).append(": ").append(yaml_scalar(option_text(config, option)));
    text.append("\n");
  }
  return text;
}

}  // namespace offcpud
