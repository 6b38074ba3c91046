// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "base/wait_for.h"
#include "sites/place_classes.h"
#include "sites/waker_evidence.h"

namespace offcpud {

// What a thread's waits at a place are for if the rule that took them cannot tell: what rules said
// of nearly all its other waits there, of those whose interpreted functions were known. `by_rule`
// if it is not unknown, or if these were for several things. Shorter waits have no such functions,
// and all that an interpreter runs may wait at one place.
WaitFor by_named_past(const PlaceClasses& places, const ThreadAtPlace& at, WaitFor by_rule,
                      MonotonicTime now);

}  // namespace offcpud
