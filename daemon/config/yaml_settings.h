// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace offcpud {

// One entry of a YAML map, as it stands in the file.
struct YamlSetting {
  enum class Kind {
    Value,    // key: text
    Nothing,  // key:
    List,     // key: [...]; what is inside is not kept
    Group,    // key: {...}; what is inside follows as settings of its own
  };
  std::string key;  // the levels of nested maps joined by dots
  Kind kind = Kind::Value;
  std::string value;     // of a Value
  std::size_t line = 0;  // 1-based, of the key

  friend bool operator==(const YamlSetting&, const YamlSetting&) = default;
};

// Reads the subset of YAML that a configuration needs: one document, a map of plain keys, eight
// levels at most; no anchors, aliases or tags. A text of comments only has no settings. The errors
// read `origin:line: what is wrong`.
Result<std::vector<YamlSetting>> parse_yaml_settings(const std::string& text,
                                                     const std::string& origin);

}  // namespace offcpud
