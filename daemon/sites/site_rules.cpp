// SPDX-License-Identifier: Apache-2.0
#include "sites/site_rules.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "base/printable.h"
#include "config/yaml_settings.h"
#include "sites/site_rule_keys.h"

namespace offcpud {
namespace {

constexpr std::size_t kMostPatterns = std::numeric_limits<PatternNumber>::max();

Position position_of(const SiteRule& rule) {
  return {.file = rule.file, .line = rule.line, .name = "sites: " + rule.name};
}

// Whether `earlier` certainly takes whatever `rule` could take.
bool covers(const SiteRule& earlier, const SiteRule& rule) {
  if (earlier.is_for_goroutines() != rule.is_for_goroutines()) return false;
  if (earlier.is_for_goroutines() && !earlier.goroutine.covers(rule.goroutine)) return false;
  if (!earlier.exe.alternatives.empty() &&
      (rule.exe.alternatives.empty() || !earlier.exe.covers(rule.exe))) {
    return false;
  }
  const bool reason_fits =
      earlier.reasons == 0 || (rule.reasons != 0 && (rule.reasons & ~earlier.reasons) == 0);
  return reason_fits && earlier.match.covers(rule.match) && earlier.kernel.covers(rule.kernel) &&
         earlier.interpreted.covers(rule.interpreted);
}

}  // namespace

Result<std::shared_ptr<const SiteRules>> SiteRules::make(std::vector<SiteRule> rules) {
  std::ranges::stable_sort(
      rules, {}, [](const SiteRule& rule) { return std::tuple(rule.folder, rule.level); });
  std::shared_ptr<SiteRules> made(new SiteRules());
  for (SiteRule& rule : rules) TRY_VOID(made->add(std::move(rule)));
  return std::shared_ptr<const SiteRules>(std::move(made));
}

Status SiteRules::add(SiteRule rule) {
  const Position position = position_of(rule);
  if (rules_.size() == kMostRules) {
    return position.refusal("is more than the " + std::to_string(kMostRules) +
                            " rules that there may be in all files; remove some");
  }
  const auto site = std::ranges::find(sites_, rule.name, &WaitSite::name);
  if (site != sites_.end() && site->wait_for != rule.wait_for) {
    const auto other = std::ranges::find(rules_, rule.name,
                                         [](const PreparedRule& each) { return each.rule.name; });
    return position.refusal("is for " + std::string(name_of(rule.wait_for)) + " here and for " +
                            std::string(name_of(site->wait_for)) + " at " + other->rule.place() +
                            "; a site is for one thing: choose another name");
  }
  for (const PreparedRule& earlier : rules_) {
    // Who writes a rule of his own may well mean to take all that a shipped one took.
    if (earlier.rule.folder != rule.folder || !covers(earlier.rule, rule)) continue;
    return position.refusal(
        "never takes anything: " + earlier.rule.name + " at " + earlier.rule.place() +
        " comes first and takes all of it; remove one, or put the narrower first");
  }

  PreparedRule prepared;
  prepared.site = static_cast<std::size_t>(site - sites_.begin());
  if (site == sites_.end()) sites_.push_back({rule.name, rule.wait_for});
  const auto number = [&](const FramePattern& pattern) {
    const PatternNumber added = patterns_.add(pattern);
    insert(prepared.needed, added);
    return added;
  };
  if (!rule.exe.alternatives.empty()) number(rule.exe);
  if (rule.is_for_goroutines()) number(rule.goroutine);
  const auto prepare = [&](const StackPattern& pattern, std::vector<SiteStep>& steps) {
    for (const auto& step : pattern.steps) steps.push_back({step.after_gap, number(step.frame)});
  };
  prepare(rule.match, prepared.match);
  prepare(rule.interpreted, prepared.interpreted);
  prepare(rule.kernel, prepared.kernel);
  if (patterns_.patterns().size() >= kMostPatterns) {
    return position.refusal("has one pattern too many for all files; remove some rules");
  }
  prepared.rule = std::move(rule);
  rules_.push_back(std::move(prepared));
  return {};
}

Result<std::vector<SiteRule>> parse_site_rules(const std::string& text, const std::string& origin) {
  TRY(const auto settings, parse_yaml_settings(text, origin));
  SiteFile file;
  for (const YamlSetting& setting : settings) {
    const Position position{origin, setting.line, excerpt(setting.key)};
    const auto* const key = find_setting(site_file_keys(), setting.key);
    if (key == nullptr) {
      return position.refusal("unknown key; a file has the keys " +
                              enumeration(names_of(site_file_keys())));
    }
    TRY_VOID(set_from_yaml(file, *key, setting, position));
  }
  for (SiteRule& rule : file.rules) {
    rule.level = file.level;
    rule.file = origin;
  }
  return std::move(file.rules);
}

}  // namespace offcpud
