// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "config/config.h"

namespace offcpud {

// A member of Config, possibly inside a nested struct, as a value.
template <class T>
struct Field {
  T& (*mutable_in)(Config&);
  const T& (*in)(const Config&);
};

// field<&Config::listen>(); field<&Config::a, &A::b>() for a member of a member
template <auto... Members>
constexpr auto field() {
  using Access = decltype((std::declval<Config&>().*....*Members));
  using T = std::remove_reference_t<Access>;
  return Field<T>{[](Config& config) -> T& { return (config.*....*Members); },
                  [](const Config& config) -> const T& { return (config.*....*Members); }};
}

// The kinds of values. Each carries what is allowed, from which the checks, the sentences in the
// errors and the documentation follow.
struct TextOption {
  Field<std::string> value;
  Status (*check)(std::string_view text);
  std::string_view allowed;  // completes "use ..."
  bool quoted = true;        // in errors; false: there may be a secret in a wrong one
};
struct ChoiceOption {
  Field<std::string> value;
  std::span<const std::string_view> choices;
};
struct NumberOption {
  Field<std::uint32_t> value;
  std::uint32_t least;
  std::uint32_t most;
};
struct NumberChoiceOption {
  Field<std::uint32_t> value;
  std::span<const std::uint32_t> choices;
};
template <class Unit>
struct DurationOption {
  Field<Unit> value;
  std::chrono::milliseconds least;
  std::chrono::milliseconds most;
};
struct SwitchOption {
  Field<bool> value;
};
struct SizeOption {
  Field<std::uint64_t> value;  // bytes
  std::uint64_t least;
  std::uint64_t most;
};
struct DurationListOption {
  Field<std::vector<std::chrono::milliseconds>> value;  // rising
  std::chrono::milliseconds least;
  std::chrono::milliseconds most;
  std::size_t longest;  // values; at least one is needed
};
struct NameListOption {
  Field<std::vector<std::string>> value;
  Status (*check)(std::string_view text);
  std::string_view allowed;  // of one, completes "a list of"
  std::size_t longest;
};

// A length of blocks, from 1 us on, or none.
struct BlockLengthOption {
  Field<std::optional<std::chrono::microseconds>> value;
  std::chrono::microseconds most;
};
// A list of different words, at least one, as bits by their places.
struct WordSetOption {
  Field<std::uint32_t> value;
  std::span<const std::string_view> words;
};

// One key of a rule, which is a map: texts in and out as they stand in a file.
template <class Rule>
struct RuleKey {
  std::string_view name;
  Status (*set)(Rule& rule, std::string_view text);  // the error is a fragment that quotes the text
  std::optional<std::string> (*text)(const Rule& rule);  // nullopt: the key is left out
  std::string (*allowed)();                              // completes "use ..."
};
template <class Rule>
struct RulesOption {
  Field<std::vector<Rule>> value;
  std::span<const RuleKey<Rule>> (*keys)();
  std::string_view required;  // a key; empty: any of them
};

enum class TakesEffect { OnReload, OnRestart };

struct Option {
  std::string_view key;  // path in the YAML file; the levels of nested maps joined by dots
  TakesEffect takes_effect;
  std::variant<TextOption, ChoiceOption, NumberOption, NumberChoiceOption,
               DurationOption<std::chrono::milliseconds>, DurationOption<std::chrono::seconds>,
               SwitchOption, SizeOption, DurationListOption, NameListOption, RulesOption<StallRule>,
               RulesOption<ProcessRule>, RulesOption<CgroupRule>, BlockLengthOption, WordSetOption>
      type;
  std::string_view help;
};

// Every option once, in the order of the documentation.
std::span<const Option> config_options();

// Null when there is no such option.
const Option* find_option(std::string_view key);

// True if the value is a list in the file.
bool is_list(const Option& option);

// True if options lie under `key`, so that a map is expected there.
bool is_option_group(std::string_view key);

// The known key that `key` most likely means; empty if none is near.
std::string_view nearest_key(std::string_view key);

// Two values that are each allowed but not together.
struct Conflict {
  std::string_view key;
  std::string_view other_key;
  std::string sentence;
};
std::optional<Conflict> find_conflict(const Config& config);

}  // namespace offcpud
