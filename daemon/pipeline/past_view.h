// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "pipeline/view.h"

namespace offcpud {

// Returns a View of an earlier time, made from what `now` still has of it. It is taken at the end
// of the WaitStep whose end is nearest to `to`. It has the windows up to then, but nothing that was
// in progress: no threads, processes, stalls or holders of locks. If `to` is before the first step
// that is kept, the View is empty.
View view_until(const View& now, WallTime to);

}  // namespace offcpud
