// SPDX-License-Identifier: Apache-2.0
#include "config/list_value.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "config/duration.h"
#include "config/rule_keys.h"

namespace offcpud {
namespace {

using AtLine = std::function<std::string(std::size_t line)>;

// Where an item is: `/etc/x.yaml:7: stalls.rules: entry 2`, counted from 1.
struct Place {
  const AtLine& at_line;
  std::size_t line;
  std::size_t number;

  [[nodiscard]] Error refusal(const std::string& what) const {
    return Error(at_line(line) + ": entry " + std::to_string(number) + ": " + what,
                 ErrorKind::Configuration);
  }
};

std::string_view kind_text(YamlKind kind) {
  switch (kind) {
    case YamlKind::Nothing:
      return "has no value";
    case YamlKind::List:
      return "is a list";
    case YamlKind::Group:
      return "is a map";
    case YamlKind::Value:
      break;
  }
  return "is a single value";
}

// What a quoted value can hold and no name or number needs.
bool is_one_line(std::string_view text) {
  return !find_text_defect(text) && text.find_first_of("\t\n\r") == std::string_view::npos;
}

template <class Rule>
std::string key_names(const RulesOption<Rule>& option) {
  std::string names;
  for (const RuleKey<Rule>& key : option.keys()) {
    names.append(names.empty() ? "" : ", ").append(key.name);
  }
  return names;
}

template <class Rule>
Status set_key(Rule& rule, const RulesOption<Rule>& option, const YamlEntry& entry, Place place) {
  place.line = entry.line;
  const auto keys = option.keys();
  const auto key = std::find_if(keys.begin(), keys.end(), [&](const RuleKey<Rule>& known) {
    return known.name == entry.key;
  });
  if (key == keys.end()) {
    return place.refusal(excerpt(entry.key) + ": unknown key; the keys are " + key_names(option));
  }
  const auto refusal = [&](const std::string& what) {
    return place.refusal(std::string(key->name) + ": " + what + "; use " + key->allowed());
  };
  if (entry.kind != YamlKind::Value) return refusal(std::string(kind_text(entry.kind)));
  if (!is_one_line(entry.value)) {
    return refusal(quotation(entry.value) + " contains a control character or is not UTF-8");
  }
  if (const Status status = key->set(rule, entry.value); !status) {
    return refusal(status.error().message());
  }
  return {};
}

template <class Rule>
Result<Rule> read_rule(const RulesOption<Rule>& option, const YamlItem& item, const Place& place) {
  if (item.kind != YamlKind::Group) {
    return place.refusal(std::string(kind_text(item.kind)) + "; use a map with the keys " +
                         key_names(option));
  }
  const auto has = [&](std::string_view key) {
    return std::any_of(item.entries.begin(), item.entries.end(),
                       [&](const YamlEntry& entry) { return entry.key == key; });
  };
  Rule rule;
  for (const YamlEntry& entry : item.entries) TRY_VOID(set_key(rule, option, entry, place));
  if (item.entries.empty()) {
    return place.refusal("is empty; use at least one of the keys " + key_names(option));
  }
  if (!option.required.empty() && !has(option.required)) {
    return place.refusal("has no " + std::string(option.required) + ", which every rule needs");
  }
  return rule;
}

struct Setter {
  Config& config;
  std::span<const YamlItem> items;
  const AtLine& at_line;

  Status operator()(const DurationListOption& option) const {
    std::vector<std::chrono::milliseconds> values;
    for (const YamlItem& item : items) {
      const Place place{at_line, item.line, values.size() + 1};
      const auto refusal = [&](const std::string& what) {
        return place.refusal(what + "; use " + allowed_items(option));
      };
      if (item.kind != YamlKind::Value) return refusal(std::string(kind_text(item.kind)));
      const auto value = parse_duration(item.value);
      if (!value) return refusal(value.error().message());
      if (*value < option.least || *value > option.most) {
        return refusal(quotation(item.value) + " is out of range");
      }
      if (!values.empty() && *value <= values.back()) {
        return refusal(quotation(item.value) + " is not longer than the one before");
      }
      values.push_back(*value);
    }
    if (values.empty() || values.size() > option.longest) {
      return Error(at_line(items.empty() ? 0 : items.front().line) + ": holds " +
                       std::to_string(values.size()) + " durations; use " + allowed_items(option),
                   ErrorKind::Configuration);
    }
    option.value.mutable_in(config) = std::move(values);
    return {};
  }

  Status operator()(const WordSetOption& option) const {
    std::uint32_t words = 0;
    std::size_t number = 0;
    for (const YamlItem& item : items) {
      const Place place{at_line, item.line, ++number};
      const auto refusal = [&](const std::string& what) {
        return place.refusal(what + "; use " + allowed_items(option));
      };
      if (item.kind != YamlKind::Value) return refusal(std::string(kind_text(item.kind)));
      const auto word = std::find(option.words.begin(), option.words.end(), item.value);
      if (word == option.words.end()) return refusal(quotation(item.value) + " is not known");
      const std::uint32_t bit = 1U << static_cast<unsigned>(word - option.words.begin());
      if ((words & bit) != 0) return refusal(quotation(item.value) + " is there twice");
      words |= bit;
    }
    if (words == 0) {
      return Error(at_line(0) + ": is empty; use " + allowed_items(option),
                   ErrorKind::Configuration);
    }
    option.value.mutable_in(config) = words;
    return {};
  }

  Status operator()(const NameListOption& option) const {
    std::vector<std::string> values;
    for (const YamlItem& item : items) {
      const Place place{at_line, item.line, values.size() + 1};
      const auto refusal = [&](const std::string& what) {
        return place.refusal(what + "; use " + allowed_items(option));
      };
      if (item.kind != YamlKind::Value) return refusal(std::string(kind_text(item.kind)));
      if (!is_one_line(item.value)) {
        return refusal(quotation(item.value) + " contains a control character or is not UTF-8");
      }
      if (const Status status = option.check(item.value); !status) {
        return refusal(status.error().message());
      }
      if (values.size() == option.longest) return refusal("is one too many");
      values.push_back(item.value);
    }
    option.value.mutable_in(config) = std::move(values);
    return {};
  }

  template <class Rule>
  Status operator()(const RulesOption<Rule>& option) const {
    std::vector<Rule> rules;
    for (const YamlItem& item : items) {
      const Place place{at_line, item.line, rules.size() + 1};
      if (rules.size() == kMaxRules) {
        return place.refusal("is more than the " + std::to_string(kMaxRules) + " that are allowed");
      }
      TRY(auto rule, read_rule(option, item, place));
      rules.push_back(std::move(rule));
    }
    option.value.mutable_in(config) = std::move(rules);
    return {};
  }

  template <class Scalar>
  Status operator()(const Scalar& /*option*/) const {
    return Error("set_list of an option that is no list");
  }
};

struct Getter {
  const Config& config;

  std::string operator()(const DurationListOption& option) const {
    std::string text;
    for (const auto value : option.value.in(config)) {
      text += (text.empty() ? "" : ", ") + format_duration(value);
    }
    return "[" + text + "]";
  }
  std::string operator()(const WordSetOption& option) const {
    std::string text;
    for (std::size_t i = 0; i < option.words.size(); ++i) {
      if (((option.value.in(config) >> i) & 1U) == 0) continue;
      text.append(text.empty() ? "" : ", ").append(option.words[i]);
    }
    return "[" + text + "]";
  }
  std::string operator()(const NameListOption& option) const {
    std::string text;
    for (const std::string& value : option.value.in(config)) {
      text += (text.empty() ? "" : ", ") + yaml_scalar(value);
    }
    return "[" + text + "]";
  }
  template <class Rule>
  std::string operator()(const RulesOption<Rule>& option) const {
    std::string text;
    for (const Rule& rule : option.value.in(config)) {
      text += (text.empty() ? "{" : ", {") + rule_text(option, rule) + "}";
    }
    return "[" + text + "]";
  }
  template <class Scalar>
  std::string operator()(const Scalar& /*option*/) const {
    return {};
  }

  template <class Rule>
  static std::string rule_text(const RulesOption<Rule>& option, const Rule& rule) {
    std::string text;
    for (const RuleKey<Rule>& key : option.keys()) {
      const auto value = key.text(rule);
      if (!value) continue;
      text.append(text.empty() ? "" : ", ").append(key.name).append(": ");
      text.append(yaml_scalar(*value));
    }
    return text;
  }
};

template <class Rule>
std::string allowed_rules(const RulesOption<Rule>& option) {
  return "a list of maps with the keys " + key_names(option) + ", " + std::to_string(kMaxRules) +
         " at most";
}

}  // namespace

Status set_list(Config& config, const Option& option, std::span<const YamlItem> items,
                const AtLine& at_line) {
  return std::visit(Setter{config, items, at_line}, option.type);
}

std::string list_text(const Config& config, const Option& option) {
  return std::visit(Getter{config}, option.type);
}

std::string allowed_items(const DurationListOption& option) {
  return "a list of 1 to " + std::to_string(option.longest) +
         " rising durations such as [1s, 10s] (" + format_duration(option.least) + " to " +
         format_duration(option.most) + ")";
}
std::string allowed_items(const NameListOption& option) {
  return "a list of " + std::string(option.allowed) + ", " + std::to_string(option.longest) +
         " at most";
}
std::string allowed_items(const RulesOption<StallRule>& option) {
  return allowed_rules(option);
}
std::string allowed_items(const RulesOption<ProcessRule>& option) {
  return allowed_rules(option);
}
std::string allowed_items(const RulesOption<CgroupRule>& option) {
  return allowed_rules(option);
}
std::string allowed_items(const WordSetOption& option) {
  std::string text;
  for (const std::string_view word : option.words) {
    text.append(text.empty() ? "" : ", ").append(word);
  }
  return "a list of some of " + text;
}

std::string yaml_scalar(const std::string& value) {
  constexpr std::array<std::string_view, 3> kNulls = {"null", "Null",
                                                      "NULL"};  // YAML 1.2.2, 10.3.2
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._:-";
  constexpr std::string_view kPlainEnds = ":-.";  // not at either end
  const bool plain = value.find_first_not_of(kPlain) == std::string::npos && !value.empty() &&
                     kPlainEnds.find(value.front()) == std::string_view::npos &&
                     kPlainEnds.find(value.back()) == std::string_view::npos &&
                     std::ranges::find(kNulls, value) == kNulls.end();
  if (plain) return value;
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

}  // namespace offcpud
