// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ctl/flame_tree.h"

namespace offcpud {

// A picture without scripts: one rectangle for each frame that is wide enough to be seen, its width
// the share of the time, with a title that browsers show as a tooltip. `icicle`: the root on top.
std::string flame_svg(const FlameTree& tree, bool icicle);

}  // namespace offcpud
