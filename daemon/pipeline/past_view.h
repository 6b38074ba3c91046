// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "pipeline/view.h"

namespace offcpud {

// What `now` still knows of an earlier time, as if it had been taken then, at the end of the
// WaitStep whose end is nearest to `to`. Windows up to then are as they were; of what was in
// progress (threads, processes, stalls, holders of locks) nothing is kept. Before the first step
// that is kept, it knows nothing.
View view_until(const View& now, WallTime to);

}  // namespace offcpud
