// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sites/pattern_index.h"
#include "sites/site_rule.h"

namespace offcpud {

// A place where threads wait, as rules name it.
struct WaitSite {
  std::string name;
  WaitFor wait_for = WaitFor::Unknown;

  friend bool operator==(const WaitSite&, const WaitSite&) = default;
};

// A function of a rule, by number.
struct SiteStep {
  bool after_gap = false;
  PatternNumber pattern = 0;
};

// A rule as it is tried.
struct PreparedRule {
  SiteRule rule;
  std::size_t site = 0;  // index into SiteRules::sites()
  PatternSet needed;     // of all conditions but the reason: each must fit something of the wait
  std::vector<SiteStep> match, kernel, interpreted;
};

// The rules in the order in which they are tried: the first that takes a wait decides. Immutable,
// so that any thread may hold it while a reload makes another.
class SiteRules {
 public:
  static constexpr std::size_t kMostRules = 2'000;

  // Sorts by folder, then by level, and otherwise keeps the order. Errors name file and line: a
  // site has two values of `for`, an earlier rule of the same folder takes all that a rule could
  // take, there are too many rules.
  static Result<std::shared_ptr<const SiteRules>> make(std::vector<SiteRule> rules);

  [[nodiscard]] std::span<const PreparedRule> rules() const { return rules_; }
  // In the order of their first rules.
  [[nodiscard]] std::span<const WaitSite> sites() const { return sites_; }
  [[nodiscard]] const PatternIndex& patterns() const { return patterns_; }

 private:
  SiteRules() = default;
  Status add(SiteRule rule);

  std::vector<PreparedRule> rules_;
  std::vector<WaitSite> sites_;
  PatternIndex patterns_;
};

// The rules of one file, `text`, in the order of the file. `origin`: its name in errors.
Result<std::vector<SiteRule>> parse_site_rules(const std::string& text, const std::string& origin);

}  // namespace offcpud
