// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace offcpud {

enum class YamlKind {
  Value,    // text
  Nothing,  // nothing, null or ~
  List,     // [...]
  Group,    // {...}
};

// For errors, such as "is a list".
std::string_view kind_text(YamlKind kind);

// One `key: value` of a map that is an item of a list. The contents of a List or Group are dropped.
struct YamlEntry {
  std::string key;
  YamlKind kind = YamlKind::Value;
  std::string value;     // of a Value
  std::size_t line = 0;  // 1-based, of the key

  friend bool operator==(const YamlEntry&, const YamlEntry&) = default;
};

// One item of a list. The contents of a List are dropped.
struct YamlItem {
  YamlKind kind = YamlKind::Value;
  std::string value;               // of a Value
  std::vector<YamlEntry> entries;  // of a Group
  std::size_t line = 0;            // 1-based

  friend bool operator==(const YamlItem&, const YamlItem&) = default;
};

// One `key: value` of the file.
struct YamlSetting {
  using Kind = YamlKind;
  std::string key;                   // the keys of nested maps, joined by dots
  Kind kind = Kind::Value;           // the contents of a Group follow as settings of their own
  std::string value;                 // of a Value
  std::size_t line = 0;              // 1-based, of the key
  std::vector<YamlItem> items = {};  // of a List

  friend bool operator==(const YamlSetting&, const YamlSetting&) = default;
};

// Reads the subset of YAML that a configuration needs: one document, a map of plain keys, at most
// eight levels, no anchors, aliases or tags. A text that holds only comments has no settings.
// Errors read `origin:line: what is wrong`.
Result<std::vector<YamlSetting>> parse_yaml_settings(const std::string& text,
                                                     const std::string& origin);

// Reads one value as written on one line behind `key: ` in a file: `10s`, `[1s, 10s]`, `[{comm:
// nginx}]`. The result has no key, and its lines mean nothing. The error says only what is wrong.
Result<YamlSetting> parse_yaml_value(const std::string& text);

// `value` as YAML that reads back to it: quoted unless it is one plain word. An unquoted "[::1]:80"
// would be a list.
std::string yaml_scalar(const std::string& value);

}  // namespace offcpud
