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

// For errors: "is a list".
std::string_view kind_text(YamlKind kind);

// One `key: value` of a map that is an item of a list. What is inside a List or Group is not kept.
struct YamlEntry {
  std::string key;
  YamlKind kind = YamlKind::Value;
  std::string value;     // of a Value
  std::size_t line = 0;  // 1-based, of the key

  friend bool operator==(const YamlEntry&, const YamlEntry&) = default;
};

// One item of a list. What is inside a List is not kept.
struct YamlItem {
  YamlKind kind = YamlKind::Value;
  std::string value;               // of a Value
  std::vector<YamlEntry> entries;  // of a Group
  std::size_t line = 0;            // 1-based

  friend bool operator==(const YamlItem&, const YamlItem&) = default;
};

// One entry of a YAML map, as it stands in the file.
struct YamlSetting {
  using Kind = YamlKind;
  std::string key;                   // the levels of nested maps joined by dots
  Kind kind = Kind::Value;           // what is inside a Group follows as settings of its own
  std::string value;                 // of a Value
  std::size_t line = 0;              // 1-based, of the key
  std::vector<YamlItem> items = {};  // of a List

  friend bool operator==(const YamlSetting&, const YamlSetting&) = default;
};

// Reads the subset of YAML that a configuration needs: one document, a map of plain keys, eight
// levels at most; no anchors, aliases or tags. A text of comments only has no settings. The errors
// read `origin:line: what is wrong`.
Result<std::vector<YamlSetting>> parse_yaml_settings(const std::string& text,
                                                     const std::string& origin);

// Reads one value as it stands behind `key: ` in a file, on one line: `10s`, `[1s, 10s]`,
// `[{comm: nginx}]`. The key is empty and the lines mean nothing. The error says what is wrong and
// no more.
Result<YamlSetting> parse_yaml_value(const std::string& text);

// `value` as YAML reads it back: in quotes unless it is one plain word. "[::1]:80" would be a list.
std::string yaml_scalar(const std::string& value);

}  // namespace offcpud
