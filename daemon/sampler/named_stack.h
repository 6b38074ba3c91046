// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sites/wait_classifier.h"
#include "stacks/sampled_snapshot.h"
#include "stacks/wait_sums.h"

namespace offcpud {

// The frames of one block by name, innermost first.
struct NamedStack {
  std::vector<StackFrame> user, kernel;
};

NamedStack name_stack(const WaitSum& sum, const WaitInterval& interval, FunctionNames& names);

// What rules say of the blocks of a sum, by its frames and by what is known of the functions that
// an interpreter runs in them. The site is good as long as the rules.
WaitClass classify(WaitClassifier& classifier, const WaitSum& sum, const NamedStack& stack);

}  // namespace offcpud
