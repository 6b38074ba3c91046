// SPDX-License-Identifier: Apache-2.0
#include "sampler/named_stack.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/text.h"
#include "sampler/lock_function.h"
#include "stacks/kernel_stack.h"

namespace offcpud {
namespace {

std::vector<SiteFrame> outermost_first(std::span<const StackFrame> frames) {
  std::vector<SiteFrame> turned;
  turned.reserve(frames.size());
  for (const StackFrame& frame : frames) turned.push_back({frame.function, frame.object});
  std::ranges::reverse(turned);
  return turned;
}

// As they are shown.
std::vector<std::string_view> outermost_first(const InterpretedStack* stack) {
  std::vector<std::string_view> turned;
  if (stack == nullptr) return turned;
  turned.reserve(stack->frames.size());
  for (const InterpretedFrame& frame : stack->frames) turned.emplace_back(frame.function);
  std::ranges::reverse(turned);
  return turned;
}

}  // namespace

NamedStack name_stack(const WaitSum& sum, const WaitInterval& interval, FunctionNames& names) {
  NamedStack stack;
  for (const LocatedFrame& frame : sum.user) {
    stack.user.push_back(names.name(sum.sample, frame, false));
  }
  std::vector<StackFrame> kernel;
  for (const std::uint64_t address : sum.kernel()) {
    const auto found = interval.kernel_names.find(address);
    if (found != interval.kernel_names.end()) kernel.push_back(found->second);
  }
  const auto kept = without_switch(kernel);
  stack.kernel.assign(kept.begin(), kept.end());
  return stack;
}

WaitClass classify(WaitClassifier& classifier, const WaitSum& sum, const NamedStack& stack) {
  std::vector<SiteFrame> kernel = outermost_first(stack.kernel);
  if (lacks_lock_function(sum.sample)) kernel.push_back({kLockFunction, "[kernel]"});
  return classifier.classify(up_to_nul(sum.sample.process_comm), sum.sample.kind,
                             outermost_first(stack.user), kernel,
                             outermost_first(sum.interpreted.get()));
}

}  // namespace offcpud
