// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/wait_for.h"
#include "sites/site_rule.h"
#include "sites/waker_evidence.h"

namespace offcpud {

// Says what a wait is for by the files that it is on (`waited_on` of a sample, bpf/waited.h). "This
// side" is the process that waits, "the peer" is the other end. The first case that applies counts:
// - a connection made from here on which this side spoke last: `answer`; certain if there is no
//   other file;
// - such a connection on which this side spoke at once after the peer, and a while ago: `answer` if
//   it is the only file, otherwise `unknown`, because this side may only have acknowledged what it
//   heard. A loop that hears messages and answers each PING has the same files in the same states
//   as a loop whose driver sent its next question at once;
// - a listener, or a connection that was accepted: `work`;
// - a connection made from here on which the peer spoke last: `work`;
// - a timer: `timer`.
// If nobody knows who spoke last on one of the connections made from here, only the first two cases
// apply. If that connection is the only file, it is an `answer`, not for certain. Nothing: the
// files leave it open, or the rule asks for other evidence.
[[nodiscard]] std::optional<EvidenceVerdict> by_files(SiteQuestion ask, std::uint32_t waited_on);

// Whether files say `answer`, and the thread waits on one file only. Even then the answer need not
// be due: the peer may send something only when it has some, such as the next job of a queue, for
// which the thread asked once (BLPOP of Redis). The past of the place tells these apart
// (AnswerPast).
[[nodiscard]] constexpr bool is_sole_answer(const std::optional<EvidenceVerdict>& by_files) {
  return by_files && by_files->wait_for == WaitFor::Answer && by_files->certain;
}

// Whether evidence of wakers may also answer a rule that asks for this.
[[nodiscard]] constexpr bool asks_for_wakers(SiteQuestion ask) {
  return ask == SiteQuestion::Waker || ask == SiteQuestion::Handover ||
         ask == SiteQuestion::Timer || ask == SiteQuestion::Socket || ask == SiteQuestion::Fds ||
         ask == SiteQuestion::Pipe;
}

// Whether chains (wait_chains.h) may answer a rule that asks for this.
[[nodiscard]] constexpr bool asks_for_chains(SiteQuestion ask) {
  return ask == SiteQuestion::Child || ask == SiteQuestion::Pipe;
}

// The part of what wakers say that counts for a rule that asks `ask`: all of it for
// SiteQuestion::Waker and Handover, and only `timer` for SiteQuestion::Timer. For a rule that asks
// for files, `lock` does not count: threads that wake each other through files, as loops do, hold
// no lock. Nor does `timer` count there if the rule says `work`: a loop that waits with a timeout
// does not sleep.
[[nodiscard]] EvidenceVerdict as_asked(SiteQuestion ask, const EvidenceVerdict& by_wakers,
                                       WaitFor by_rule);

}  // namespace offcpud
