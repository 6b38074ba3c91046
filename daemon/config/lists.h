// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "config/setting.h"

namespace offcpud {

inline constexpr std::size_t kMaxRules = 100;  // in one list

// One to `longest` durations, ascending.
ListNotation<std::vector<std::chrono::milliseconds>> rising_durations(
    std::chrono::milliseconds least, std::chrono::milliseconds most, std::size_t longest);

// At least one of `words`, each at most once. Bit n stands for word n.
ListNotation<std::uint32_t> word_set(std::span<const std::string_view> words);

// A list of texts that `item` accepts; `item.allowed` is a plural such as "host names".
ListNotation<std::vector<std::string>> texts(const Notation<std::string>& item,
                                             std::optional<std::size_t> longest = {});

// "[a, b]"
template <class T, class ToText>
std::string flow_list(const std::vector<T>& values, const ToText& to_text) {
  std::string text;
  for (const T& value : values) text.append(text.empty() ? "" : ", ").append(to_text(value));
  return "[" + text + "]";
}

// Reads one rule: a map with some of `keys`, among them `required` unless that is empty.
template <class Rule>
Result<Rule> parse_rule(std::span<const Setting<Rule>> keys, std::string_view required,
                        const YamlItem& item, const Position& position) {
  const std::string names = enumeration(names_of(keys));
  if (item.kind != YamlKind::Group) {
    return position.refusal(std::string(kind_text(item.kind)) + "; use a map with the keys " +
                            names);
  }
  if (item.entries.empty()) {
    return position.refusal("is empty; use at least one of the keys " + names);
  }
  Rule rule;
  bool complete = required.empty();
  for (const YamlEntry& entry : item.entries) {
    const Position at = position.at(excerpt(entry.key), entry.line);
    const Setting<Rule>* const key = find_setting(keys, entry.key);
    if (key == nullptr) return at.refusal("unknown key; the keys are " + names);
    TRY_VOID(set_from_yaml(rule, *key, entry, at));
    complete = complete || key->name == required;
  }
  if (complete) return rule;
  return position.refusal("has no " + std::string(required) + ", which every rule needs");
}

// "{comm: cp, threshold: 1s}"
template <class Rule>
std::string rule_text(std::span<const Setting<Rule>> keys, const Rule& rule) {
  std::string text;
  for (const Setting<Rule>& key : keys) {
    const std::string value = key.text(rule);
    if (value.empty()) continue;  // not set: no key accepts an empty text
    text.append(text.empty() ? "" : ", ").append(key.name).append(": ").append(yaml_scalar(value));
  }
  return "{" + text + "}";
}

// A list of at most kMaxRules rules.
template <class Rule>
ListNotation<std::vector<Rule>> rules(std::span<const Setting<Rule>> keys,
                                      std::string_view required) {
  const auto parse = [=](std::span<const YamlItem> items,
                         const Position& position) -> Result<std::vector<Rule>> {
    std::vector<Rule> rules;
    for (const YamlItem& item : items) {
      const Position entry = position.at("entry " + std::to_string(rules.size() + 1), item.line);
      if (rules.size() == kMaxRules) {
        return entry.refusal("is more than the " + std::to_string(kMaxRules) + " that are allowed");
      }
      TRY(auto rule, parse_rule(keys, required, item, entry));
      rules.push_back(std::move(rule));
    }
    return rules;
  };
  const auto to_text = [=](const std::vector<Rule>& rules) {
    return flow_list(rules, [&](const Rule& rule) { return rule_text(keys, rule); });
  };
  return {parse, to_text,
          "a list of maps with the keys " + enumeration(names_of(keys)) + ", " +
              std::to_string(kMaxRules) + " at most"};
}

}  // namespace offcpud
