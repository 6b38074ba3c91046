// SPDX-License-Identifier: Apache-2.0
#include "sampler/examined_stack.h"

#include <utility>

namespace offcpud {
namespace {

std::size_t bytes_of(const std::vector<std::string>& texts) {
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += sizeof(std::string) + text.capacity();
  return bytes;
}

}  // namespace

ExaminedStack::ExaminedStack(ExaminedWait wait, SiteQuestion ask, const ProcessPlace& at)
    : ask_(at.place == 0 ? SiteQuestion::None : ask), at_(at) {
  if (ask_ != SiteQuestion::None) {
    user_ = wait.user;
    kernel_ = wait.kernel;
  }
  if (is_idle(wait.wait_for)) {
    wait.user.clear();
    wait.kernel.clear();
  }
  wait_ = std::make_shared<const ExaminedWait>(std::move(wait));
}

std::shared_ptr<const ExaminedWait> ExaminedStack::as(const EvidenceVerdict& verdict) {
  if (verdict == this->verdict()) return wait_;
  for (const auto& other : others_) {
    if (EvidenceVerdict{other->wait_for, other->certain} == verdict) return other;
  }
  ExaminedWait other{.wait_for = verdict.wait_for, .site = wait_->site, .certain = verdict.certain};
  if (!is_idle(verdict.wait_for)) {
    other.user = user_;
    other.kernel = kernel_;
  }
  return others_.emplace_back(std::make_shared<const ExaminedWait>(std::move(other)));
}

// With one other verdict, which is the most that is usual.
std::size_t ExaminedStack::bytes() const {
  return sizeof(ExaminedStack) + 2 * (sizeof(ExaminedWait) + wait_->site.size()) +
         bytes_of(wait_->user) + bytes_of(wait_->kernel) +
         2 * (bytes_of(user_) + bytes_of(kernel_));
}

}  // namespace offcpud
