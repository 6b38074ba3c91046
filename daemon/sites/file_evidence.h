// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/wait_for.h"
#include "sites/site_rule.h"
#include "sites/waker_evidence.h"

namespace offcpud {

// Says what a wait is for by the files that it is on, `waited_on` of a sample (bpf/waited.h):
// - a connection that was made from here, and spoken on last: `answer`, also among others, then not
// for certain;
// - the same, but at once after the peer, and a while ago: `answer` if it is the only file,
// otherwise `unknown`, because it may be an acknowledgement: a loop that only hears messages and
// answers each PING has the same files in the same states as one whose driver sent the next
// question at once, whether or not it also serves others;
// - a listener, or a connection that was accepted: `work`;
// - one that was made from here, but the peer spoke last: `work`;
// - a timer: `timer`.
// Of a set with a connection of which nobody knows who spoke last, only the first is said.
// Nothing: these files leave it open, or the rule asks for other evidence.
[[nodiscard]] std::optional<EvidenceVerdict> by_files(SiteQuestion ask, std::uint32_t waited_on);

// Whether a rule that asks for this may also be answered by who wakes the thread.
[[nodiscard]] constexpr bool asks_for_wakers(SiteQuestion ask) {
  return ask == SiteQuestion::Waker || ask == SiteQuestion::Socket || ask == SiteQuestion::Fds ||
         ask == SiteQuestion::Pipe;
}

// Whether what windows found out by following chains holds for the place.
[[nodiscard]] constexpr bool asks_for_chains(SiteQuestion ask) {
  return ask == SiteQuestion::Child || ask == SiteQuestion::Pipe;
}

// What of the evidence of wakers counts for a rule that asks for this: everything if it asks for
// them. Threads that wake each other through files, as loops do, hold no lock; and a loop that a
// rule knows as idle is no sleep because it has a timeout.
[[nodiscard]] EvidenceVerdict as_asked(SiteQuestion ask, const EvidenceVerdict& by_wakers,
                                       WaitFor by_rule);

}  // namespace offcpud
