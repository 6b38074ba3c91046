// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ctl/flame_tree.h"

namespace offcpud {

// The value of the attribute `fill`. In a difference red is more than in the earlier range, blue is
// less, and the stronger the larger the share that changed; else colours tell kinds of frames.
// Black text is legible on all of them. In progress: "url(#in-progress)".
std::string flame_fill(const FlameTree& tree, const FlameTree::Node& node);

}  // namespace offcpud
