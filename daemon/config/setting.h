// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/notation.h"
#include "config/yaml_settings.h"

namespace offcpud {

// Where a value was found. Errors begin with it: "/etc/x.yaml:7: stalls.rules: entry 2: ...".
struct Position {
  std::string file = {};  // empty: not in a file
  std::size_t line = 0;   // 1-based; means nothing without a file
  std::string name = {};  // "stalls.rules: entry 2" or "--set linger"; empty: added by the caller

  [[nodiscard]] std::string text() const;
  [[nodiscard]] Error refusal(const std::string& what) const;  // ErrorKind::Configuration
  // The position of a part: of "entry 2" of a list, or of a key of a map.
  [[nodiscard]] Position at(const std::string& part, std::size_t line_of_part) const;
};

// How lists of one type are written, and which lists are allowed.
template <class T>
struct ListNotation {
  // The error begins with the position of the list or of an item, and ends with what is allowed.
  std::function<Result<T>(std::span<const YamlItem> items, const Position& position)> parse;
  std::function<std::string(const T& value)> text;  // as one line of YAML
  std::string allowed;                              // completes "use ..."
};

// A value of a Target that users set by its name: an option of the configuration, a key of the web
// configuration or of a rule, or a parameter of a request. Tables of settings yield the parser, the
// text form, error messages and documentation.
template <class Target>
struct Setting {
  std::string_view name;
  // Reads one line of text; a list is written as behind `key: ` in a file: "[1s, 10s]". An error
  // does not change the target; it is a fragment: `"10" has no unit (...); use ...`.
  std::function<Status(Target& target, std::string_view text)> parse;
  // Writes what `parse` reads back. Empty for parameters, which nobody writes.
  std::function<std::string(const Target& target)> text;
  std::string allowed;         // completes "use ..."
  std::string_view help = {};  // a sentence; options only
  // Reads a list from the items of a file. Empty for settings that are not lists. The error begins
  // with the position.
  std::function<Status(Target& target, std::span<const YamlItem> items, const Position& position)>
      parse_items = {};

  [[nodiscard]] bool is_list() const { return static_cast<bool>(parse_items); }
};

// A function that returns a reference to a member of its argument, or to a member of that member:
// member(&Config::stalls, &Config::Stalls::keep).
template <class... Members>
constexpr auto member(Members... members) {
  return [=](auto& object) -> auto& {
    return (object.*....*members);
  };
}

// A setting whose value is stored in what `access(target)` refers to.
template <class Target, class Access, class T>
Setting<Target> setting(std::string_view name, Access access, const Notation<T>& notation,
                        std::string_view help = {}) {
  const auto parse = [=](Target& target, std::string_view text) -> Status {
    TRY(access(target), notation.read(text));
    return {};
  };
  const auto to_text = [=, text = notation.text](const Target& target) {
    return text(access(target));
  };
  return {name, parse, to_text, notation.allowed, help};
}

// Reads the items of a list from one line of YAML. The error is a fragment that ends with
// `allowed`.
Result<std::vector<YamlItem>> parse_items_of(std::string_view text, const std::string& allowed);

template <class Target, class Access, class T>
Setting<Target> setting(std::string_view name, Access access, const ListNotation<T>& notation,
                        std::string_view help = {}) {
  const auto parse_items = [=, parse = notation.parse](Target& target,
                                                       std::span<const YamlItem> items,
                                                       const Position& position) -> Status {
    TRY(access(target), parse(items, position));
    return {};
  };
  const auto parse = [=, allowed = notation.allowed](Target& target,
                                                     std::string_view text) -> Status {
    TRY(const auto items, parse_items_of(text, allowed));
    return parse_items(target, items, {});
  };
  const auto to_text = [=, text = notation.text](const Target& target) {
    return text(access(target));
  };
  return {name, parse, to_text, notation.allowed, help, parse_items};
}

// Sets the value from a file. `node` is a YamlSetting or a YamlEntry.
template <class Target, class Node>
Status set_from_yaml(Target& target, const Setting<Target>& setting, const Node& node,
                     const Position& position) {
  if constexpr (requires { node.items; }) {
    if (setting.is_list() && node.kind == YamlKind::List) {
      return setting.parse_items(target, node.items, position);
    }
  }
  if (setting.is_list() || node.kind != YamlKind::Value) {
    return position.refusal(std::string(kind_text(node.kind)) + "; use " + setting.allowed);
  }
  const Status status = setting.parse(target, node.value);
  return status ? Status() : position.refusal(status.error().message());
}

// The setting of that name, or null.
template <class Table>
auto* find_setting(const Table& table, std::string_view name) {
  const auto found = std::ranges::find_if(table, [&](const auto& s) { return s.name == name; });
  return found == std::ranges::end(table) ? nullptr : &*found;
}

// True if names in the table begin with `name` and a dot: a file then has a map there.
template <class Table>
bool is_group(const Table& table, std::string_view name) {
  return std::ranges::any_of(table, [prefix = std::string(name) + "."](const auto& setting) {
    return setting.name.starts_with(prefix);
  });
}

}  // namespace offcpud
