// SPDX-License-Identifier: Apache-2.0
#include "selection/snapshot_rules.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "config/config_schema.h"
#include "selection/cgroup_pattern.h"

namespace offcpud {
namespace {

constexpr std::array<std::string_view, 6> kKeys = {
    "snapshots.reasons",      "snapshots.cgroups",        "snapshots.min_duration",
    "snapshots.max_duration", "snapshots.kernel_threads", "snapshots.states"};

// Bits of TASK_* (include/linux/sched.h) for each word of snapshots.states; the last word is
// __TASK_STOPPED, __TASK_TRACED, TASK_PARKED and TASK_FROZEN.
constexpr std::array<std::uint32_t, 3> kTaskStates = {0x1, 0x2, 0x4 | 0x8 | 0x40 | 0x8000};

class CgroupRules {
 public:
  static Result<CgroupRules> compile(const std::vector<CgroupRule>& rules) {
    CgroupRules compiled;
    for (const CgroupRule& text : rules) {
      Rule rule;
      TRY(rule.cgroup, CgroupPattern::parse(text.cgroup));
      rule.keep = text.keep;
      compiled.rules_.push_back(std::move(rule));
    }
    return compiled;
  }

  bool keeps(std::string_view path) {
    if (decided_.size() >= kMostDecided) decided_.clear();
    const auto [known, is_new] = decided_.try_emplace(std::string(path), true);
    if (is_new) known->second = decide(path);
    return known->second;
  }

 private:
  static constexpr std::size_t kMostDecided = 10'000;

  struct Rule {
    std::optional<CgroupPattern> cgroup;  // nullopt: any
    bool keep = true;
  };

  [[nodiscard]] bool decide(std::string_view path) const {
    const auto rule = std::find_if(rules_.begin(), rules_.end(), [&](const Rule& each) {
      return !each.cgroup || each.cgroup->matches(path);
    });
    return rule == rules_.end() || rule->keep;
  }

  std::vector<Rule> rules_;
  std::unordered_map<std::string, bool> decided_;
};

std::uint64_t nanoseconds(std::chrono::microseconds duration) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(duration).count());
}

std::optional<std::uint32_t> task_states(std::uint32_t words) {
  if (words == Config::Snapshots::kAllStates) return std::nullopt;  // unknown states as well
  std::uint32_t states = 0;
  for (std::size_t i = 0; i < kTaskStates.size(); ++i) {
    if (((words >> i) & 1U) != 0) states |= kTaskStates[i];
  }
  return states;
}

}  // namespace

std::string capture_text(const Config& config) {
  return settings_text(config, kKeys);
}

Result<CaptureRules> capture_rules(const Config& config) {
  const Config::Snapshots& options = config.snapshots;
  CaptureRules rules;
  rules.blocks.kinds = options.reasons;
  rules.blocks.kernel_threads = options.kernel_threads;
  if (options.min_duration) rules.blocks.min_ns = nanoseconds(*options.min_duration);
  if (options.max_duration) rules.blocks.max_ns = nanoseconds(*options.max_duration);
  rules.blocks.task_state = task_states(options.states);
  if (!options.cgroups.empty()) {
    TRY(auto compiled, CgroupRules::compile(options.cgroups));
    const auto cgroups = std::make_shared<CgroupRules>(std::move(compiled));
    rules.keeps_cgroup = [cgroups](std::string_view path) { return cgroups->keeps(path); };
  }
  rules.text = capture_text(config);
  return rules;
}

}  // namespace offcpud
