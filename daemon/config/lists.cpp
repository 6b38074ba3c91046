// SPDX-License-Identifier: Apache-2.0
#include "config/lists.h"

#include <utility>

#include "base/printable.h"

namespace offcpud {
namespace {

using std::chrono::milliseconds;

// Reads every item and passes its value to `add`, which returns null, or why the value is not
// allowed after the earlier ones.
template <class T, class Add>
Status read_items(std::span<const YamlItem> items, const Position& position,
                  const Notation<T>& notation, const std::string& allowed, const Add& add) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const YamlItem& item = items[i];
    const auto refused = [&](std::string what) {
      return position.at("entry " + std::to_string(i + 1), item.line)
          .refusal(what.append("; use ").append(allowed));
    };
    if (item.kind != YamlKind::Value) return refused(std::string(kind_text(item.kind)));
    auto value = notation.parse(item.value);
    if (!value) return refused(value.error().message());
    const char* const problem = add(*std::move(value));
    if (problem != nullptr) return refused(quotation(item.value) + " " + problem);
  }
  return {};
}

}  // namespace

ListNotation<std::vector<milliseconds>> rising_durations(milliseconds least, milliseconds most,
                                                         std::size_t longest) {
  const std::string allowed = "a list of 1 to " + std::to_string(longest) +
                              " rising durations such as [1s, 10s] (" + format_duration(least) +
                              " to " + format_duration(most) + ")";
  const auto parse = [=, item = duration_between<milliseconds>(least, most)](
                         std::span<const YamlItem> items,
                         const Position& position) -> Result<std::vector<milliseconds>> {
    std::vector<milliseconds> values;
    TRY_VOID(read_items(items, position, item, allowed, [&](milliseconds value) {
      const bool rises = values.empty() || value > values.back();
      values.push_back(value);
      return rises ? nullptr : "is not longer than the one before";
    }));
    if (!values.empty() && values.size() <= longest) return values;
    return position.refusal("holds " + std::to_string(values.size()) + " durations; use " +
                            allowed);
  };
  const auto to_text = [](const std::vector<milliseconds>& values) {
    return flow_list(values, format_duration);
  };
  return {parse, to_text, allowed};
}

ListNotation<std::uint32_t> word_set(std::span<const std::string_view> words) {
  const std::string allowed = "a list of some of " + enumeration(words);
  std::vector<NamedValue<std::uint32_t>> bits;
  for (const std::string_view word : words) bits.push_back({word, 1U << bits.size()});
  const auto parse = [allowed, item = choice(bits)](
                         std::span<const YamlItem> items,
                         const Position& position) -> Result<std::uint32_t> {
    std::uint32_t set = 0;
    TRY_VOID(read_items(items, position, item, allowed, [&](std::uint32_t bit) {
      const bool is_new = (set & bit) == 0;
      set |= bit;
      return is_new ? nullptr : "is there twice";
    }));
    if (set == 0) return position.refusal("is empty; use " + allowed);
    return set;
  };
  const auto to_text = [bits](std::uint32_t set) {
    std::vector<std::string_view> words_in;
    for (const auto& [word, bit] : bits) {
      if ((set & bit) != 0) words_in.push_back(word);
    }
    return "[" + enumeration(words_in) + "]";
  };
  return {parse, to_text, allowed};
}

ListNotation<std::vector<std::string>> texts(const Notation<std::string>& item,
                                             std::optional<std::size_t> longest) {
  const std::string allowed =
      "a list of " + item.allowed + (longest ? ", " + std::to_string(*longest) + " at most" : "");
  const auto parse = [=](std::span<const YamlItem> items,
                         const Position& position) -> Result<std::vector<std::string>> {
    std::vector<std::string> values;
    TRY_VOID(read_items(items, position, item, allowed, [&](std::string value) {
      values.push_back(std::move(value));
      return !longest || values.size() <= *longest ? nullptr : "is one too many";
    }));
    return values;
  };
  const auto to_text = [](const std::vector<std::string>& values) {
    return flow_list(values, yaml_scalar);
  };
  return {parse, to_text, allowed};
}

}  // namespace offcpud
