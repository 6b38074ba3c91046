// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
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

// The options stalls.threshold and stalls.rules, compiled. The first matching rule decides. Where
// only the reason of a block is known, a rule without a reason ignores blocks with idle-prone
// reasons; if no rule matches, such a block is never a stall, and any other one is a stall after
// stalls.threshold. Where the stack of a block says that it is actionable, no reason counts as
// idle-prone. Single-threaded: it remembers results.
class StallRules {
 public:
  // Error: an expression does not compile. load_config() refuses those before.
  static Result<StallRules> compile(const Config::Stalls& options);

  // A rule's comm is compared with the names of the thread and its process.
  [[nodiscard]] StallThresholds thresholds(const BlockFacts& facts);

  // Blocks that may be stalls by their reason.
  [[nodiscard]] StallFilter filter() const;
  // Idle-prone reasons (bits) that rules name.
  [[nodiscard]] std::uint32_t named_kinds() const;

 private:
  struct Rule {
    std::optional<CgroupPattern> cgroup;  // nullopt: any
    std::optional<Pattern> comm;          // the same
    std::optional<std::size_t> kind;      // nullopt: any
    std::optional<std::chrono::seconds> threshold;

    // Whether the rule applies where only this reason is known.
    [[nodiscard]] bool speaks_of(std::size_t of_kind) const;
    [[nodiscard]] bool names_idle_prone() const;
    [[nodiscard]] bool matches(const BlockFacts& facts) const;
  };
  using Thresholds = std::array<StallThresholds, OFFCPUD_BLOCKED_KINDS>;

  [[nodiscard]] std::optional<std::chrono::seconds> default_of(std::size_t kind) const;
  [[nodiscard]] StallThresholds decide(const BlockFacts& facts) const;

  std::chrono::seconds default_{};
  std::vector<Rule> rules_;
  // By cgroup and names, joined, because many stalled threads are alike. Cleared when it is full.
  std::unordered_map<std::string, Thresholds> decided_;
};

// The least threshold of all, whatever the reason.
std::chrono::seconds least_threshold(const Config::Stalls& options);

// The policy of a StallLog. Copies share the rules. `examined_kinds`: StallPolicy::examined_kinds.
Result<StallPolicy> stall_policy(const Config::Stalls& options, std::uint32_t examined_kinds);

}  // namespace offcpud
