// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "sites/site_rules.h"

namespace offcpud {

// The rules in force, which a reload replaces. Thread-safe: whoever classifies waits takes them
// before each piece of work, and keeps what it took until the next.
class SiteRulesBoard {
 public:
  explicit SiteRulesBoard(std::shared_ptr<const SiteRules> rules) : rules_(std::move(rules)) {}

  [[nodiscard]] std::shared_ptr<const SiteRules> rules() const {
    const std::lock_guard lock(mutex_);
    return rules_;
  }

  void publish(std::shared_ptr<const SiteRules> rules) {
    const std::lock_guard lock(mutex_);
    rules_.swap(rules);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const SiteRules> rules_;  // never null
};

}  // namespace offcpud
