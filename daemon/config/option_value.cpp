// SPDX-License-Identifier: Apache-2.0
#include "config/option_value.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/printable.h"
#include "config/byte_size.h"
#include "config/duration.h"
#include "config/list_value.h"
#include "config/yaml_settings.h"

namespace offcpud {
namespace {

constexpr std::string_view kNone = "none";
constexpr const char* kGarbled = "contains a control character or is not UTF-8";
constexpr std::chrono::microseconds kLeastBlock{1};

Error refusal(std::string_view text, std::string_view why) {
  return Error(quotation(text) + " " + std::string(why), ErrorKind::Configuration);
}

template <class T>
bool contains(std::span<const T> choices, const T& value) {
  return std::find(choices.begin(), choices.end(), value) != choices.end();
}

Result<std::uint32_t> parse_number(std::string_view text) {
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  if (code == std::errc::result_out_of_range && stop == end) return refusal(text, "is too large");
  if (code != std::errc{} || stop != end) return refusal(text, "is not a whole number");
  return number;
}

struct Setter {
  Config& config;
  std::string_view text;

  Status operator()(const TextOption& option) const {
    TRY_VOID(option.check(text));
    option.value.mutable_in(config) = text;
    return {};
  }
  Status operator()(const ChoiceOption& option) const {
    if (!contains(option.choices, text)) return refusal(text, "is not known");
    option.value.mutable_in(config) = text;
    return {};
  }
  Status operator()(const NumberOption& option) const {
    TRY(const auto number, parse_number(text));
    if (number < option.least || number > option.most) return refusal(text, "is out of range");
    option.value.mutable_in(config) = number;
    return {};
  }
  Status operator()(const NumberChoiceOption& option) const {
    TRY(const auto number, parse_number(text));
    if (!contains(option.choices, number)) return refusal(text, "is not allowed");
    option.value.mutable_in(config) = number;
    return {};
  }
  template <class Unit>
  Status operator()(const DurationOption<Unit>& option) const {
    TRY(const auto duration, parse_duration(text));
    if (duration < option.least || duration > option.most) return refusal(text, "is out of range");
    const auto value = std::chrono::floor<Unit>(duration);
    if (value != duration) return refusal(text, "is not a whole number of seconds");
    option.value.mutable_in(config) = value;
    return {};
  }
  Status operator()(const SwitchOption& option) const {
    if (text != "true" && text != "false") return refusal(text, "is not known");
    option.value.mutable_in(config) = text == "true";
    return {};
  }
  Status operator()(const SizeOption& option) const {
    TRY(const auto bytes, parse_byte_size(text));
    if (bytes < option.least || bytes > option.most) return refusal(text, "is out of range");
    option.value.mutable_in(config) = bytes;
    return {};
  }
  Status operator()(const BlockLengthOption& option) const {
    std::optional<std::chrono::microseconds>& value = option.value.mutable_in(config);
    if (text == kNone) {
      value.reset();
      return {};
    }
    TRY(const auto duration, parse_fine_duration(text));
    if (duration < kLeastBlock || duration > option.most) return refusal(text, "is out of range");
    value = duration;
    return {};
  }
  template <class List>
  Status operator()(const List& /*option*/) const {
    return Error("set_option of an option that is a list");  // set_list() is for those
  }
};

struct Getter {
  const Config& config;

  std::string operator()(const TextOption& option) const { return option.value.in(config); }
  std::string operator()(const ChoiceOption& option) const { return option.value.in(config); }
  std::string operator()(const NumberOption& option) const {
    return std::to_string(option.value.in(config));
  }
  std::string operator()(const NumberChoiceOption& option) const {
    return std::to_string(option.value.in(config));
  }
  template <class Unit>
  std::string operator()(const DurationOption<Unit>& option) const {
    return format_duration(option.value.in(config));
  }
  std::string operator()(const SwitchOption& option) const {
    return option.value.in(config) ? "true" : "false";
  }
  std::string operator()(const SizeOption& option) const {
    return format_byte_size(option.value.in(config));
  }
  std::string operator()(const BlockLengthOption& option) const {
    const auto& value = option.value.in(config);
    return value ? format_fine_duration(*value) : std::string(kNone);
  }
  template <class List>
  std::string operator()(const List& /*option*/) const {
    return {};
  }
};

template <class T, class ToText>
std::string joined(std::span<const T> values, std::string_view separator, ToText to_text) {
  std::string text;
  for (const T& value : values) {
    if (!text.empty()) text += separator;
    text += to_text(value);
  }
  return text;
}

struct Sentence {
  std::string operator()(const TextOption& option) const { return std::string(option.allowed); }
  std::string operator()(const ChoiceOption& option) const {
    return "one of " + joined(option.choices, ", ", [](std::string_view word) { return word; });
  }
  std::string operator()(const NumberOption& option) const {
    return "a whole number from " + std::to_string(option.least) + " to " +
           std::to_string(option.most);
  }
  std::string operator()(const NumberChoiceOption& option) const {
    return joined(option.choices, " or ", [](std::uint32_t n) { return std::to_string(n); });
  }
  template <class Unit>
  std::string operator()(const DurationOption<Unit>& option) const {
    return "a duration such as 500ms, 10s, 10min, 1h (" + format_duration(option.least) + " to " +
           format_duration(option.most) + ")";
  }
  std::string operator()(const SwitchOption& /*option*/) const { return "true or false"; }
  std::string operator()(const SizeOption& option) const {
    return "a size such as 64MiB, 1GiB (" + format_byte_size(option.least) + " to " +
           format_byte_size(option.most) + ")";
  }
  std::string operator()(const BlockLengthOption& option) const {
    return std::string(kNone) + ", or a duration such as 100us, 5ms, 1s (" +
           format_fine_duration(kLeastBlock) + " to " + format_fine_duration(option.most) + ")";
  }
  template <class List>
  std::string operator()(const List& option) const {
    return allowed_items(option);
  }
};

// A list as it stands in a file, on one line.
Status set_flow_list(Config& config, const Option& option, std::string_view text) {
  const auto problem = [&](const std::string& what) {
    return Error(what + "; use " + allowed_values(option), ErrorKind::Configuration);
  };
  const auto value = parse_yaml_value(std::string(text));
  if (!value) return problem(value.error().message());
  if (value->kind != YamlKind::List) return problem(quotation(text) + " is not a list");
  const auto status = set_list(config, option, value->items, [](std::size_t) { return ""; });
  if (status) return {};
  return Error(status.error().message().substr(2), ErrorKind::Configuration);  // without ": "
}

}  // namespace

Status set_option(Config& config, const Option& option, std::string_view text) {
  // A quoted YAML value or an argument can hold what the file itself may not.
  const auto defect = find_text_defect(text);
  const bool several_lines = text.find_first_of("\t\n\r") != std::string_view::npos;
  const bool garbled = defect || several_lines;
  if (!garbled && is_list(option)) return set_flow_list(config, option, text);
  const auto* const words = std::get_if<TextOption>(&option.type);
  Status status;
  if (!garbled) {
    status = std::visit(Setter{config, text}, option.type);
  } else if (words != nullptr && !words->quoted) {
    status = Error(kGarbled, ErrorKind::Configuration);
  } else {
    status = refusal(text, kGarbled);
  }
  if (status) return status;
  return Error(status.error().message() + "; use " + allowed_values(option),
               ErrorKind::Configuration);
}

std::string option_text(const Config& config, const Option& option) {
  return is_list(option) ? list_text(config, option) : std::visit(Getter{config}, option.type);
}

std::string settings_text(const Config& config, std::span<const std::string_view> keys) {
  const Config defaults;
  std::string text;
  for (const std::string_view key : keys) {
    const Option* const option = find_option(key);
    if (option == nullptr) continue;
    const std::string value = option_text(config, *option);
    if (value == option_text(defaults, *option)) continue;
    text.append(text.empty() ? "" : "; ").append(key).append("=").append(value);
  }
  return text;
}

std::string allowed_values(const Option& option) {
  return std::visit(Sentence{}, option.type);
}

}  // namespace offcpud
