// SPDX-License-Identifier: Apache-2.0
#include "sites/file_evidence.h"

#include "waited.h"

namespace offcpud {
namespace {

constexpr std::uint32_t kOurs = OFFCPUD_ON_LISTENER | OFFCPUD_ON_ACCEPTED | OFFCPUD_ON_HEARD;

// A single file, or the one of a set that became ready.
std::optional<EvidenceVerdict> by_one(SiteQuestion ask, std::uint32_t on) {
  if ((on & kOurs) != 0) return EvidenceVerdict{.wait_for = WaitFor::Work, .certain = true};
  if ((on & OFFCPUD_ON_TIMER) != 0) {
    return EvidenceVerdict{.wait_for = WaitFor::Timer, .certain = true};
  }
  // A thread that waits on such a connection alone waits for the peer. Whether it asked for what
  // comes is not known, so the answer is not certain. One that became ready in a set says less.
  const bool is_all = ask == SiteQuestion::Socket || (on & OFFCPUD_ON_ALONE) != 0;
  if (is_all && (on & OFFCPUD_ON_LINKED) != 0) return EvidenceVerdict{.wait_for = WaitFor::Answer};
  return std::nullopt;
}

}  // namespace

std::optional<EvidenceVerdict> by_files(SiteQuestion ask, std::uint32_t waited_on) {
  if (ask != SiteQuestion::Socket && ask != SiteQuestion::Fds) return std::nullopt;
  const bool is_alone = (waited_on & OFFCPUD_ON_ALONE) != 0;
  const bool replied = (waited_on & OFFCPUD_ON_REPLIED) != 0;
  // Some protocols make an idle client speak last (the PONG of NATS, HTTP/2's WINDOW_UPDATE). With
  // such a connection among others the thread need not wait for it, so it is not certain.
  if ((waited_on & OFFCPUD_ON_ASKED) != 0 || (is_alone && replied)) {
    return EvidenceVerdict{.wait_for = WaitFor::Answer, .certain = is_alone};
  }
  // Either that happened here, or it asked the next question at once and gets no answer: nobody can
  // tell.
  if (replied) return EvidenceVerdict{.wait_for = WaitFor::Unknown};
  if (is_alone || (waited_on & OFFCPUD_ON_READY) != 0) return by_one(ask, waited_on);
  // The unseen rest of a large set may have a connection on which it asked, and it may have asked
  // on one of which nobody knows who spoke last.
  if ((waited_on & (OFFCPUD_ON_MORE | OFFCPUD_ON_LINKED)) != 0) return std::nullopt;
  if ((waited_on & kOurs) != 0) return EvidenceVerdict{.wait_for = WaitFor::Work, .certain = true};
  return std::nullopt;
}

EvidenceVerdict as_asked(SiteQuestion ask, const EvidenceVerdict& by_wakers, WaitFor by_rule) {
  if (ask == SiteQuestion::Waker || ask == SiteQuestion::Handover) return by_wakers;
  if (ask == SiteQuestion::Timer) {
    return by_wakers.wait_for == WaitFor::Timer ? by_wakers : EvidenceVerdict{.wait_for = by_rule};
  }
  const bool is_loop = by_wakers.wait_for == WaitFor::Timer && by_rule == WaitFor::Work;
  if (is_loop || by_wakers.wait_for == WaitFor::Lock) return {.wait_for = by_rule};
  return by_wakers;
}

}  // namespace offcpud
