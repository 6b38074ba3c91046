// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "api/known_units.h"
#include "api/why_query.h"
#include "attribution/unit_names.h"
#include "pipeline/view.h"
#include "pipeline/wait_window.h"
#include "why/why_inputs.h"

namespace offcpud {

// The name under which a process stands among the units: "python3 (pid 812)".
std::string process_subject(const ProcessRow& process);

// The peer that a value of PeerWaits::on names. Its members about who waits, and how long, stay
// empty.
UnitPeer peer_on(std::string_view on, UnitNames& names);

// Each of these functions makes one source of WhyInputs, sorted.
Source<UnitPeer> peers_of(const View& view, std::chrono::milliseconds window, UnitNames& names);
Source<UnitTaker> takers_of(const View& view, std::chrono::milliseconds window, UnitNames& names);

// What units did to the devices on which threads waited in the last minutes.
Source<UnitLoad> loads_of(const View& view, std::chrono::milliseconds window, UnitNames& names);

// Whom threads of each unit waited on, and what those did meanwhile.
Source<UnitChain> chains_of(const View& view, std::chrono::milliseconds window, UnitNames& names);

// Adds the chains of one process, within a window of `seconds`.
void add_process_chains(WhyInputs& inputs, const WaitWindow& window, double seconds,
                        const ProcessRow& process, UnitNames& names);

// For each unit, and for `process` (null: none): who holds the locks that its threads wait for. For
// a wait that is over: who held its lock when a look within the window last saw a holder. `past`:
// past_of().
Source<UnitHolder> holders_of(const View& view, const ProcessRow* process,
                              std::chrono::milliseconds window, const Source<UnitPast>& past,
                              UnitNames& names);

// What is needed to know which cgroups and processes exist when a request is answered.
struct Liveness {
  IsLiveCgroup is_live;                   // null: all cgroups
  std::chrono::nanoseconds suspended{0};  // suspended_time()
};

// What each unit waited for within the window and does not wait for any more.
Source<UnitPast> past_of(const View& view, std::chrono::milliseconds window, const Liveness& now,
                         UnitNames& names);

// Which process of each unit waited most for each thing, within the last window.
Source<UnitWaiter> waiters_of(const View& view, UnitNames& names);

// What the last window saw of locks for which it names no holder.
Source<UnitUnheld> unheld_of(const View& view, UnitNames& names);

// Who ended waits for locks that threads of each unit had, in all windows that are kept.
Source<UnitRelease> releases_of(const View& view, UnitNames& names);

// Adds the waits of a process as a subject of their own, process_subject(): those of the last
// window, and of the interval between the last two walks over threads.
void add_process(WhyInputs& inputs, const View& view, const ProcessRow& process, UnitNames& names);

// What the View knows of the waits within the window, unit by unit; with `query.pid` also of that
// process, under process_subject(). `details`: whether the client may see sites, and whom threads
// wait for. `process` null: no process is asked for.
WhyInputs why_inputs(const View& view, const WhyQuery& query, const ProcessRow* process,
                     bool details, const Liveness& now = {});

}  // namespace offcpud
