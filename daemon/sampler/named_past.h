// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "base/wait_for.h"
#include "sites/place_classes.h"
#include "sites/waker_evidence.h"

namespace offcpud {

// What a wait is for whose interpreted functions are not known: `by_rule`, unless that is unknown.
// Then it is what the rules of this generation said of nearly all waits of the same thread at this
// place whose functions were known; unknown if these were for several things. The functions of
// short waits are never known, and all that an interpreter runs may wait at one place.
WaitFor by_named_past(const PlaceClasses& places, const ThreadAtPlace& at, std::uint32_t generation,
                      WaitFor by_rule, MonotonicTime now);

}  // namespace offcpud
