// SPDX-License-Identifier: Apache-2.0
#include "sites/site_rule_keys.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "config/lists.h"
#include "config/reason_names.h"

namespace offcpud {
namespace {

constexpr std::size_t kLongestName = 60;
constexpr std::size_t kLongestRemark = 500;

// The words of an enumeration, in its order.
template <class T, std::size_t N>
Notation<T> word_of(const std::array<std::string_view, N>& words, std::size_t first = 0) {
  std::vector<NamedValue<T>> choices;
  for (std::size_t i = first; i < N; ++i) choices.push_back({words[i], static_cast<T>(i)});
  return choice(std::move(choices));
}

Status check_name(std::string_view text) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789-";
  if (text.empty()) return refusal(text, "is empty");
  if (text.size() > kLongestName) {
    return refusal(text, "is longer than " + std::to_string(kLongestName) + " bytes");
  }
  const std::size_t wrong = text.find_first_not_of(kAllowed);
  if (wrong != std::string_view::npos) return refusal(text, "has other characters");
  return {};
}

Status check_remark(std::string_view text) {
  TRY_VOID(check_one_line(text));
  if (text.size() <= kLongestRemark) return {};
  return refusal(text, "is longer than " + std::to_string(kLongestRemark) + " bytes");
}

Notation<FramePattern> plain_names(PatternKind kind, std::string allowed) {
  const auto parse = [kind](std::string_view text) -> Result<FramePattern> {
    TRY_VOID(check_one_line(text));
    return FramePattern::parse(text, kind);
  };
  return {parse, [](const FramePattern& pattern) { return pattern.text; }, std::move(allowed)};
}

Notation<std::uint32_t> reasons() {
  const auto parse = [](std::string_view text) -> Result<std::uint32_t> {
    std::uint32_t bits = 0;
    while (true) {
      const std::size_t bar = text.find('|');
      std::string_view word = text.substr(0, bar);
      while (word.starts_with(' ')) word.remove_prefix(1);
      while (word.ends_with(' ')) word.remove_suffix(1);
      const auto reason = reason_named(word);
      if (!reason) return refusal(word, "is not a reason");
      bits |= 1U << *reason;
      if (bar == std::string_view::npos) return bits;
      text.remove_prefix(bar + 1);
    }
  };
  const auto to_text = [](const std::uint32_t& bits) {
    std::string words;
    for (std::size_t i = 0; i < kReasonNames.size(); ++i) {
      if ((bits >> i & 1U) == 0) continue;
      words.append(words.empty() ? "" : " | ").append(kReasonNames[i]);
    }
    return words;
  };
  return {parse, to_text, "some of " + enumeration(kReasonNames) + ", with | between them"};
}

Notation<StackPattern> stack(PatternKind kind, std::string allowed) {
  const auto parse = [kind](std::string_view text) -> Result<StackPattern> {
    TRY_VOID(check_one_line(text));
    return StackPattern::parse(text, kind);
  };
  return {parse, [](const StackPattern& pattern) { return pattern.text; }, std::move(allowed)};
}

std::string is_short(const std::string& key, const std::string& name, const std::string& whose) {
  return key + ": " + quotation(name) +
         " is short, and functions of many programs may have that name; add exe, or say whose it "
         "is: " +
         excerpt(name) + "@" + whose;
}

// `whose`: what may stand behind a name to say whose it is.
Status check_names(const StackPattern& pattern, const std::string& key, const std::string& whose,
                   const Position& rule) {
  for (const StackPattern::Step& step : pattern.steps) {
    const auto* const name = step.frame.first_short_name();
    if (name != nullptr) return rule.refusal(is_short(key, name->function, whose));
  }
  return {};
}

// What the keys of a rule say together.
Status check_rule(const SiteRule& rule, const Position& position) {
  if (rule.name.empty()) return position.refusal("has no name, which every rule needs");
  const Position named = position.at(rule.name, rule.line);
  if (rule.exe.alternatives.empty() && rule.reasons == 0 && rule.match.steps.empty() &&
      rule.interpreted.steps.empty() && rule.kernel.steps.empty() && !rule.is_for_goroutines()) {
    return named.refusal(
        "has no condition and would take every wait; add match, interpreted, kernel, reason or "
        "exe");
  }
  const bool is_of_thread = rule.reasons != 0 || !rule.interpreted.steps.empty() ||
                            !rule.kernel.steps.empty() || rule.ask != SiteQuestion::None;
  if (rule.is_for_goroutines() && is_of_thread) {
    return named.refusal(
        "has goroutine and also reason, interpreted, kernel or ask, which only threads have; leave "
        "these out");
  }
  if (!rule.exe.alternatives.empty()) return {};
  TRY_VOID(check_names(rule.match, "match", "OBJECT", named));
  return check_names(rule.interpreted, "interpreted", "FILE", named);
}

ListNotation<std::vector<SiteRule>> site_rule_list() {
  const auto parse = [](std::span<const YamlItem> items,
                        const Position& position) -> Result<std::vector<SiteRule>> {
    std::vector<SiteRule> rules;
    for (const YamlItem& item : items) {
      const Position entry = position.at("entry " + std::to_string(rules.size() + 1), item.line);
      if (rules.size() == SiteFile::kMostRules) {
        return entry.refusal("is more than the " + std::to_string(SiteFile::kMostRules) +
                             " that one file may have; begin another file");
      }
      TRY(auto rule, parse_rule(site_rule_keys(), "for", item, entry));
      rule.line = item.line;
      TRY_VOID(check_rule(rule, entry));
      rules.push_back(std::move(rule));
    }
    return rules;
  };
  const auto to_text = [](const std::vector<SiteRule>& rules) {
    return flow_list(rules, [](const SiteRule& rule) { return rule_text(site_rule_keys(), rule); });
  };
  return {parse, to_text,
          "a list of maps with the keys " + enumeration(names_of(site_rule_keys()))};
}

}  // namespace

std::span<const Setting<SiteRule>> site_rule_keys() {
  static const std::vector<Setting<SiteRule>> kKeys = {
      setting<SiteRule>(
          "name", member(&SiteRule::name),
          text_that(check_name, "small letters, digits and -, such as go-idle-thread"),
          "Name of the site. Several rules may have it, if they agree in `for`."),
      setting<SiteRule>("for", member(&SiteRule::wait_for), word_of<WaitFor>(kWaitForNames),
                        "What threads wait for there."),
      setting<SiteRule>(
          "ask", member(&SiteRule::ask), word_of<SiteQuestion>(kSiteQuestionNames, 1),
          "Evidence that decides where there is some; `for` holds where there is none."),
      setting<SiteRule>(
          "exe", member(&SiteRule::exe),
          plain_names(
              PatternKind::Exe,
              "names of executables such as mariadbd | mysqld, where * stands for any text"),
          "Name of the executable."),
      setting<SiteRule>("reason", member(&SiteRule::reasons), reasons(),
                        "How the thread left the CPU."),
      setting<SiteRule>(
          "goroutine", member(&SiteRule::goroutine),
          plain_names(PatternKind::Goroutine,
                      "why goroutines wait, such as chan receive | select, where * stands for any "
                      "text"),
          "Why a goroutine waits, as Go's runtime says it. Such a rule takes goroutines only."),
      setting<SiteRule>("match", member(&SiteRule::match),
                        stack(PatternKind::User,
                              "functions, innermost first: A < ... < B, each NAME or NAME@OBJECT, "
                              "where * stands for any text, with | between alternatives"),
                        "Functions of the program."),
      setting<SiteRule>(
          "interpreted", member(&SiteRule::interpreted),
          stack(PatternKind::Interpreted,
                "functions of Python, innermost first: A < ... < B, each NAME or NAME@FILE, "
                "where * stands for any text, with | between alternatives"),
          "Functions that an interpreter runs for the program."),
      setting<SiteRule>(
          "kernel", member(&SiteRule::kernel),
          stack(PatternKind::Kernel,
                "functions, innermost first: A < ... < B, where * stands for any text, "
                "with | between alternatives"),
          "Functions of the kernel."),
      setting<SiteRule>("tested", member(&SiteRule::tested),
                        text_that(check_remark, "one line of text"),
                        "Programs and versions whose stacks it was tested with; nothing reads it."),
  };
  return kKeys;
}

std::span<const Setting<SiteFile>> site_file_keys() {
  static const std::vector<Setting<SiteFile>> kKeys = {
      setting<SiteFile>("level", member(&SiteFile::level), word_of<SiteLevel>(kSiteLevelNames),
                        "How near to the program the rules are: levels are tried in this order."),
      setting<SiteFile>("sites", member(&SiteFile::rules), site_rule_list(), "The rules."),
  };
  return kKeys;
}

}  // namespace offcpud
