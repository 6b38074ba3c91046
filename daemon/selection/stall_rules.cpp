// SPDX-License-Identifier: Apache-2.0
#include "selection/stall_rules.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/hist_kind.h"

namespace offcpud {
namespace {

constexpr std::size_t kMaxDecided = 10'000;

Result<std::optional<std::size_t>> kind_of(const std::string& reason) {
  if (reason.empty()) return std::optional<std::size_t>();
  for (std::size_t kind = 0; kind < OFFCPUD_BLOCKED_KINDS; ++kind) {
    if (kHistKindNames[kind] == reason) return std::optional(kind);
  }
  return Error("'" + reason + "' is not a reason", ErrorKind::Configuration);
}

}  // namespace

Result<StallRules> StallRules::compile(const Config::Stalls& options) {
  StallRules rules;
  rules.default_ = options.threshold;
  for (const StallRule& text : options.rules) {
    Rule rule;
    TRY(rule.cgroup, CgroupPattern::parse(text.cgroup));
    TRY(rule.comm, Pattern::parse_if_any(text.comm));
    TRY(rule.kind, kind_of(text.reason));
    rule.threshold = text.threshold;
    rules.rules_.push_back(std::move(rule));
  }
  return rules;
}

bool StallRules::Rule::speaks_of(std::size_t of_kind) const {
  return kind ? *kind == of_kind : !is_idle_prone(of_kind);
}

bool StallRules::Rule::names_idle_prone() const {
  return kind && is_idle_prone(*kind);
}

bool StallRules::Rule::matches(const BlockFacts& facts) const {
  if (kind && *kind != facts.kind) return false;
  if (cgroup && !cgroup->matches(facts.cgroup)) return false;
  return !comm || comm->matches(facts.comm) || comm->matches(facts.process_comm);
}

std::optional<std::chrono::seconds> StallRules::default_of(std::size_t kind) const {
  if (is_idle_prone(kind)) return std::nullopt;
  return default_;
}

StallThresholds StallRules::decide(const BlockFacts& facts) const {
  const auto first = [&](const auto& speaks) {
    return std::ranges::find_if(
        rules_, [&](const Rule& rule) { return speaks(rule) && rule.matches(facts); });
  };
  const auto by_reason = first([&](const Rule& rule) { return rule.speaks_of(facts.kind); });
  const auto actionable = first([](const Rule&) { return true; });
  StallThresholds found;
  found.by_reason = by_reason == rules_.end() ? default_of(facts.kind) : by_reason->threshold;
  found.actionable = actionable == rules_.end() ? std::optional(default_) : actionable->threshold;
  found.reason_named = by_reason != rules_.end() && by_reason->names_idle_prone();
  return found;
}

StallThresholds StallRules::thresholds(const BlockFacts& facts) {
  if (!is_blocked_kind(facts.kind)) return {};
  if (rules_.empty()) return decide(facts);
  std::string key;  // separated by zero bytes, which no name contains
  key.append(facts.cgroup).append(1, '\0').append(facts.comm).append(1, '\0');
  key.append(facts.process_comm);
  auto known = decided_.find(key);
  if (known == decided_.end()) {
    if (decided_.size() >= kMaxDecided) decided_.clear();
    Thresholds by_kind;
    BlockFacts each = facts;
    for (each.kind = 0; each.kind < by_kind.size(); ++each.kind) by_kind[each.kind] = decide(each);
    known = decided_.emplace(std::move(key), by_kind).first;
  }
  return known->second[facts.kind];
}

// Assumes that each rule may match, up to the first one that matches every block of its kind.
StallFilter StallRules::filter() const {
  StallFilter filter;
  const auto allow = [&](std::size_t kind, std::optional<std::chrono::seconds> threshold) {
    if (!threshold) return;
    const auto ns = std::chrono::nanoseconds(*threshold).count();
    filter.min_ns = std::min(filter.min_ns, static_cast<std::uint64_t>(ns));
    filter.kinds |= 1U << kind;
  };
  for (std::size_t kind = 0; kind < OFFCPUD_BLOCKED_KINDS; ++kind) {
    bool decided = false;
    for (const Rule& rule : rules_) {
      if (decided || !rule.speaks_of(kind)) continue;
      allow(kind, rule.threshold);
      decided = !rule.cgroup && !rule.comm;
    }
    if (!decided) allow(kind, default_of(kind));
  }
  return filter;
}

std::uint32_t StallRules::named_kinds() const {
  std::uint32_t kinds = 0;
  for (const Rule& rule : rules_) {
    if (rule.names_idle_prone()) kinds |= 1U << *rule.kind;
  }
  return kinds;
}

std::chrono::seconds least_threshold(const Config::Stalls& options) {
  std::chrono::seconds least = options.threshold;
  for (const StallRule& rule : options.rules) {
    least = std::min(least, rule.threshold.value_or(least));
  }
  return least;
}

Result<StallPolicy> stall_policy(const Config::Stalls& options, std::uint32_t examined_kinds) {
  TRY(auto compiled_rules, StallRules::compile(options));
  auto rules = std::make_shared<StallRules>(std::move(compiled_rules));
  StallPolicy policy;
  policy.filter = rules->filter();
  policy.named_kinds = rules->named_kinds();
  policy.examined_kinds = examined_kinds;
  if (examined_kinds != 0) {
    const std::chrono::nanoseconds least = least_threshold(options);
    policy.filter.min_ns = static_cast<std::uint64_t>(least.count());
  }
  policy.thresholds = [rules](const BlockFacts& facts) { return rules->thresholds(facts); };
  return policy;
}

}  // namespace offcpud
