// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "pipeline/view.h"

namespace offcpud {

// Makes a View of an earlier time from what `now` still has of it. Its time is the end of the
// WaitStep that ended nearest to `to`. It has the windows up to then, but nothing that was in
// progress: no threads, processes, stalls or holders of locks. If `to` is before the first step
// that is kept, the View is empty.
View view_until(const View& now, WallTime to);

}  // namespace offcpud
