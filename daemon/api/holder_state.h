// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/wait_age.h"
#include "holders/lock_holder.h"
#include "pipeline/view.h"
#include "pipeline/wait_window.h"
#include "why/why_inputs.h"

namespace offcpud {

// What a thread that holds a lock does, and for how long it has done nothing else.
struct HolderState {
  UnitHolder::Does does = UnitHolder::Does::Unknown;  // never Deadlocked
  WaitAge age;                                        // 0 ns: unknown
  const ExaminedBlock* block = nullptr;               // of Waits; the View's window owns it
};

// Uses the last window and the last walk over threads of the View, which must outlive the result.
// `holder` is a thread.
HolderState holder_state(const View& view, const LockHolder& holder);

// Adds `does`, `does_seconds` and `does_estimated`, as docs/http.md describes them.
void append_deed(nlohmann::ordered_json& json, UnitHolder::Does does, const WaitAge& age);

}  // namespace offcpud
