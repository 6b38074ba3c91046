// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "config/pattern.h"
#include "pipeline/stall_log.h"
#include "selection/cgroup_pattern.h"

namespace offcpud {

// The options stalls.threshold and stalls.rules, compiled. The first matching rule decides; a rule
// without a reason ignores idle-prone reasons. If no rule matches, a block is a stall after
// stalls.threshold, but never in an idle-prone reason. Single-threaded: it remembers results.
class StallRules {
 public:
  // Error: an expression does not compile. load_config() refuses those before.
  static Result<StallRules> compile(const Config::Stalls& options);

  // nullopt: never a stall. A rule's comm is compared with the names of the thread and its process.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> threshold(const BlockFacts& facts);

  [[nodiscard]] StallFilter filter() const;

 private:
  struct Rule {
    std::optional<CgroupPattern> cgroup;  // nullopt: any
    std::optional<Pattern> comm;          // the same
    std::optional<std::size_t> kind;      // nullopt: any that is not idle-prone
    std::optional<std::chrono::seconds> threshold;

    [[nodiscard]] bool speaks_of(std::size_t of_kind) const;
    [[nodiscard]] bool matches(const BlockFacts& facts) const;
  };
  using Thresholds = std::array<std::optional<std::chrono::seconds>, OFFCPUD_BLOCKED_KINDS>;

  [[nodiscard]] std::optional<std::chrono::seconds> default_of(std::size_t kind) const;
  [[nodiscard]] Thresholds decide(BlockFacts facts) const;

  std::chrono::seconds default_{};
  std::vector<Rule> rules_;
  // By cgroup and names, joined, because many stalled threads are alike. Cleared when it is full.
  std::unordered_map<std::string, Thresholds> decided_;
};

// The policy of a StallLog. Copies share the rules.
Result<StallPolicy> stall_policy(const Config::Stalls& options);

}  // namespace offcpud
