// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pipeline/view.h"

namespace offcpud {

// Sums the stalls of the View, with or without a record, by the cgroups of its rows, and by whom
// they wait on according to the View's window. Stalls of a cgroup without a row count in the row
// "(other)", if there is one.
void sum_stalls(View& view);

// The same for threads in deadlocks.
void sum_deadlocks(View& view);

}  // namespace offcpud
