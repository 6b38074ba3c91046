// SPDX-License-Identifier: Apache-2.0
#include "sites/wait_classifier.h"

#include <utility>

namespace offcpud {
namespace {

// Of the table of stacks, beside the key's frames: node, vector, class, bucket.
constexpr std::size_t kBytesOfWait = 128;

WaitClass class_of(const PreparedRule* rule) {
  if (rule == nullptr) return {};
  return {.wait_for = rule->rule.wait_for,
          .site = rule->rule.name,
          .certain = rule->rule.ask == SiteQuestion::None,
          .ask = rule->rule.ask};
}

}  // namespace

WaitClassifier::WaitClassifier(std::shared_ptr<const SiteRules> rules, std::size_t most_stack_bytes)
    : most_stack_bytes_(most_stack_bytes) {
  matcher_.emplace(std::move(rules), kMostNameBytes);
}

void WaitClassifier::use(std::shared_ptr<const SiteRules> rules) {
  if (rules.get() == &matcher_->rules()) return;
  work_.names += matcher_->work().names;
  known_.clear();  // before the rules, whose texts it has
  known_bytes_ = 0;
  ++generation_;
  matcher_.emplace(std::move(rules), kMostNameBytes);
}

void WaitClassifier::set_key(const SiteWait& wait) {
  const std::size_t reason = wait.reason ? *wait.reason + 1 : 0;
  key_.clear();
  key_.push_back(wait.exe);
  key_.push_back(static_cast<std::uint32_t>(reason));
  key_.push_back(wait.goroutine ? *wait.goroutine + 1 : 0);
  key_.push_back(static_cast<std::uint32_t>(wait.user.size()));
  key_.push_back(static_cast<std::uint32_t>(wait.kernel.size()));
  for (const auto& frames : {wait.user, wait.kernel, wait.interpreted}) {
    key_.insert(key_.end(), frames.begin(), frames.end());
  }
}

WaitClass WaitClassifier::classify(const SiteWait& wait) {
  ++work_.waits;
  set_key(wait);
  const auto known = known_.find(key_);
  if (known != known_.end()) return known->second;
  ++work_.matched;
  const WaitClass found = class_of(matcher_->find(wait));
  remember(found);
  return found;
}

void WaitClassifier::remember(const WaitClass& found) {
  const std::size_t bytes = kBytesOfWait + key_.size() * sizeof(key_.front());
  if (known_bytes_ + bytes > most_stack_bytes_) {
    work_.forgotten += known_.size();
    known_.clear();
    known_bytes_ = 0;
  }
  known_.emplace(key_, found);
  known_bytes_ += bytes;
}

WaitClass WaitClassifier::classify(std::string_view exe, std::size_t reason,
                                   std::span<const SiteFrame> user,
                                   std::span<const SiteFrame> kernel,
                                   std::span<const std::string_view> interpreted) {
  user_.clear();
  kernel_.clear();
  interpreted_.clear();
  for (const SiteFrame& frame : user) user_.push_back(user_frame(frame));
  for (const SiteFrame& frame : kernel) kernel_.push_back(kernel_frame(frame.function));
  for (const std::string_view shown : interpreted) interpreted_.push_back(interpreted_frame(shown));
  return classify({.exe = executable(exe),
                   .reason = reason,
                   .user = user_,
                   .kernel = kernel_,
                   .interpreted = interpreted_});
}

ClassifierWork WaitClassifier::work() const {
  ClassifierWork work = work_;
  work.names += matcher_->work().names;
  return work;
}

}  // namespace offcpud
