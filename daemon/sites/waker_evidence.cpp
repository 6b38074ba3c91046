// SPDX-License-Identifier: Apache-2.0
#include "sites/waker_evidence.h"

#include <algorithm>
#include <cmath>

namespace offcpud {
namespace {

// A waker waits for something else there if peers end less than this part of its waits.
constexpr float kPeersShare = 0.1F;

// EvidenceKey::what: of a place it is the place's number.
constexpr std::uint64_t kWholeThread = 0x9e3779b97f4a7c15;

// Of waits that this thread of the same process ended.
std::uint64_t woken_by(std::uint32_t waker_tid) {
  return (std::uint64_t{waker_tid} + 1) * 0xd6e8feb86659fd93;
}

// For waits at all places of a site: the leader of a pool has another stack than the followers.
std::uint64_t at_site(std::uint64_t site) {
  return site * 0xa0761d6478bd642f;
}

std::uint16_t bit_of(WaitFor wait_for) {
  return static_cast<std::uint16_t>(1U << static_cast<unsigned>(wait_for));
}

// A function of the process, or a place, whichever thread is there.
EvidenceKey any_thread_at(const ThreadAtPlace& at, std::uint64_t what) {
  return {.tgid = at.tgid, .tid = 0, .what = what};
}

bool same_process(const SeenWaits& waits) {
  return waits.end == WaitEnd::Thread && waits.waker_tgid == waits.at.tgid;
}

PlaceCrowds::Member member_of(const SeenWaits& waits) {
  return {.tgid = waits.at.tgid, .tid = waits.at.tid, .place = waits.at.place};
}

// The thread of the same process that ended the waits, at the same place.
PlaceCrowds::Member waker_member_of(const SeenWaits& waits) {
  PlaceCrowds::Member waker = member_of(waits);
  waker.tid = waits.waker_tid;
  return waker;
}

ThreadAtPlace waker_of(const SeenWaits& waits) {
  ThreadAtPlace waker = waits.at;
  waker.tid = waits.waker_tid;
  return waker;
}

EvidenceKey key_of(const ThreadAtPlace& at, std::uint64_t what) {
  return {.tgid = at.tgid, .tid = at.tid, .what = what};
}

void decay(Evidence& evidence, MonotonicTime now) {
  const std::chrono::duration<float> age = now - evidence.decayed;
  if (age.count() <= 0) return;
  const auto left = [age](std::chrono::duration<float> half_life) {
    return std::exp2(-age / half_life);
  };
  const float kept = left(WakerEvidence::kHalfLife);
  for (float* const sum :
       {&evidence.wakeups, &evidence.ended_ns, &evidence.timer_ns, &evidence.peers_ns,
        &evidence.lock_ns, &evidence.answer_ns, &evidence.timer_ends, &evidence.peer_ends}) {
    *sum *= kept;
  }
  const float kept_of_pairs = left(WakerEvidence::kHalfLifeOfPairs);
  for (float* const sum : {&evidence.episodes, &evidence.jobs}) *sum *= kept_of_pairs;
  evidence.decayed = now;
}

WaitFor class_of(const Evidence& evidence) {
  if (evidence.timer_ns > WakerEvidence::kTimerShare * evidence.ended_ns) return WaitFor::Timer;
  if (evidence.lock_ns > WakerEvidence::kLockShare * evidence.ended_ns) return WaitFor::Lock;
  if (evidence.answer_ns > WakerEvidence::kAnswerShare * evidence.ended_ns) return WaitFor::Answer;
  return WaitFor::Work;
}

}  // namespace

Evidence* WakerEvidence::touch(const ThreadAtPlace& at, std::uint64_t what, MonotonicTime now) {
  const EvidenceProcess process{.start_ns = at.process_start_ns, .owner = at.owner};
  Evidence* const evidence = table_.touch(key_of(at, what), process, now);
  if (evidence != nullptr) decay(*evidence, now);
  return evidence;
}

// A copy as of now; empty if nothing is known.
Evidence WakerEvidence::sums_of(const ThreadAtPlace& at, std::uint64_t what,
                                MonotonicTime now) const {
  const Evidence* const known = table_.find(key_of(at, what));
  if (known == nullptr || known->process_start_ns != at.process_start_ns) return {};
  Evidence sums = *known;
  decay(sums, now);
  return sums;
}

// One loop after the other, because this very window may show that a waker at times waits at a
// place.
void WakerEvidence::learn(std::span<const SeenWaits> waits, MonotonicTime now) {
  ++window_;
  window_length_ = learned_ == MonotonicTime{} ? kYoung : now - learned_;
  learned_ = now;
  table_.forget_before(now - kKept);
  note_crowds(waits);
  for (const SeenWaits& each : waits) note_names(each, now);
  for (const SeenWaits& each : waits) note_wakers(each, now);
  for (const SeenWaits& each : waits) note_waiter(each, now);
  for (const SeenWaits& each : waits) weigh(each, now);
  for (const SeenWaits& each : waits) weigh_lock(each, now);
  for (const SeenWaits& each : waits) conclude(each);
}

void WakerEvidence::note_crowds(std::span<const SeenWaits> waits) {
  crowds_.clear();
  for (const SeenWaits& each : waits) {
    if (each.at.place != 0) crowds_.add(member_of(each), each.whole_ns, each.variance_ns2);
  }
  for (const SeenWaits& each : waits) {
    if (each.at.place == 0 || !same_process(each)) continue;
    crowds_.join(member_of(each), waker_member_of(each));
    if (each.hands_over) crowds_.add_wakeups(member_of(each), each.waker_tid, each.samples);
  }
}

// A wait that is open although the library's functions have names is another one than those that
// names decide.
void WakerEvidence::note_names(const SeenWaits& waits, MonotonicTime now) {
  const bool is_named = waits.certain || waits.wait_for == WaitFor::Answer;
  const bool is_other = !is_named && waits.has_library && !waits.hands_over;
  if (waits.at.caller == 0 || !(is_named || is_other)) return;
  const EvidenceProcess process{.start_ns = waits.at.process_start_ns, .owner = waits.at.owner};
  const std::uint16_t bit = bit_of(is_named ? waits.wait_for : WaitFor::Unknown);
  for (const std::uint64_t what : {waits.at.caller, is_named ? waits.at.place : 0}) {
    if (what == 0) continue;
    Evidence* const there = table_.touch(any_thread_at(waits.at, what), process, now);
    if (there != nullptr) there->named |= bit;
  }
}

// What names said before those by which a rule knows the wait were inlined: of all waits of the
// function; where threads hand something over, of a lock, or of this very place, which a latch has
// as well.
std::optional<WaitFor> WakerEvidence::named_at(const ThreadAtPlace& at, bool hands_over) const {
  if (at.caller == 0) return std::nullopt;
  const auto named = [&](std::uint64_t what) -> std::uint16_t {
    const Evidence* const there = table_.find(any_thread_at(at, what));
    const bool is_it = there != nullptr && there->process_start_ns == at.process_start_ns;
    return is_it ? there->named : 0;
  };
  const std::uint16_t of_function = named(at.caller);
  const std::uint16_t answer = bit_of(WaitFor::Answer), lock = bit_of(WaitFor::Lock);
  if (hands_over && of_function == lock) return WaitFor::Lock;
  const bool is_answer =
      hands_over ? named(at.place) == answer && (of_function & lock) == 0 : of_function == answer;
  return is_answer ? std::optional(WaitFor::Answer) : std::nullopt;
}

void WakerEvidence::note_wakers(const SeenWaits& waits, MonotonicTime now) {
  if (!same_process(waits)) return;
  if (Evidence* const pair = touch(waits.at, woken_by(waits.waker_tid), now)) {
    pair->episodes += static_cast<float>(waits.episodes);
    const bool is_job = waits.certain && waits.wait_for == WaitFor::Work;
    if (is_job) pair->jobs += static_cast<float>(waits.episodes);
  }
  touch(waker_of(waits), kWholeThread, now);
}

// Of wakers alone it matters how long they wait for others.
void WakerEvidence::note_waiter(const SeenWaits& waits, MonotonicTime now) {
  if (waits.at.place != 0) touch(waits.at, waits.at.place, now);
  const bool for_others = waits.end != WaitEnd::None && !same_process(waits);
  if (!for_others || actionable(waits.wait_for)) return;
  const Evidence* const waker = table_.find(key_of(waits.at, kWholeThread));
  if (waker == nullptr || waker->process_start_ns != waits.at.process_start_ns) return;
  if (Evidence* const thread = touch(waits.at, kWholeThread, now)) {
    thread->ended_ns += static_cast<float>(waits.ns);
  }
}

void WakerEvidence::weigh(const SeenWaits& waits, MonotonicTime now) {
  if (waits.at.place == 0 || waits.end == WaitEnd::None) return;
  const auto ns = static_cast<float>(waits.ns);
  Evidence* const evidence = touch(waits.at, waits.at.place, now);
  if (evidence == nullptr) return;
  evidence->wakeups += static_cast<float>(waits.samples);
  evidence->ended_ns += ns;
  if (waits.end == WaitEnd::OwnTimer) {
    evidence->timer_ns += ns;
    return count_at_site(waits, now);
  }
  if (waits.end != WaitEnd::Thread) return;
  const bool by_peer = waker_there(waits, now) != nullptr;
  if (by_peer) evidence->peers_ns += ns;
  // Idle threads that pass jobs on do not ask each other, either.
  if (!by_peer || may_hold(waits)) {
    evidence->answer_ns += ns * answered(waits, evidence->ended_ns, now);
  }
  if (by_peer) count_at_site(waits, now);  // last: it may move what `evidence` points to
}

// Whether one of the threads that wake each other there may hold what the others wait for. Of
// another process, not all threads are known. A waker that did not wait there in this window looks
// like a holder.
bool WakerEvidence::may_hold(const SeenWaits& waits) const {
  return !same_process(waits) || !crowds_.has(waker_member_of(waits)) ||
         crowds_.may_hold(member_of(waits), window_length_);
}

void WakerEvidence::count_at_site(const SeenWaits& waits, MonotonicTime now) {
  if (waits.site == 0) return;
  Evidence* const evidence = touch(waits.at, at_site(waits.site), now);
  if (evidence == nullptr) return;
  float& ends = waits.end == WaitEnd::OwnTimer ? evidence->timer_ends : evidence->peer_ends;
  ends += static_cast<float>(waits.episodes);
}

// Where functions have no names, as in just-in-time code, producers may seem to wait where
// consumers do. But there they do not wake each other.
void WakerEvidence::weigh_lock(const SeenWaits& waits, MonotonicTime now) {
  if (waits.at.place == 0 || waits.end != WaitEnd::Thread) return;
  if (is_handed_over(waits)) {
    Evidence* const taken = table_.find(key_of(waits.at, waits.at.place));
    if (taken != nullptr) taken->lock_ns += static_cast<float>(waits.ns);
    return;
  }
  const Evidence* const waker = waker_there(waits, now);
  if (waker == nullptr || waker->peers_ns < kPeersShare * waker->ended_ns) return;
  if (leads(waits, now) || !may_hold(waits)) return;
  Evidence* const evidence = table_.find(key_of(waits.at, waits.at.place));
  if (evidence != nullptr) evidence->lock_ns += static_cast<float>(waits.ns);
}

// By one who waits there, too, or by the one who has it nearly always and rarely waits for it.
bool WakerEvidence::is_handed_over(const SeenWaits& waits) const {
  if (!waits.hands_over || !same_process(waits)) return false;
  const PlaceCrowds::Member member = member_of(waits);
  if (!crowds_.hands_over(member)) return false;
  return crowds_.has(waker_member_of(waits)) || crowds_.hands_out(member, waits.waker_tid);
}

// The evidence of the waker at the place, if it at times waits there. The start of another process
// is not known, so its numbers must do.
const Evidence* WakerEvidence::waker_there(const SeenWaits& waits, MonotonicTime now) const {
  const Evidence* const there =
      table_.find({.tgid = waits.waker_tgid, .tid = waits.waker_tid, .what = waits.at.place});
  if (there == nullptr || now - there->seen > kAtTimes) return nullptr;
  const bool is_it = !same_process(waits) || there->process_start_ns == waits.at.process_start_ns;
  return is_it ? there : nullptr;
}

bool WakerEvidence::leads(const SeenWaits& waits, MonotonicTime now) const {
  if (waits.site == 0 || !same_process(waits)) return false;
  const Evidence at = sums_of(waker_of(waits), at_site(waits.site), now);
  return at.timer_ends > 0 && at.timer_ends >= kLeaderShare * at.peer_ends;
}

// The share of these waits that were for an answer: each needs a question, which wakes the thread
// that answers.
float WakerEvidence::answered(const SeenWaits& waits, float ended_ns, MonotonicTime now) const {
  if (!same_process(waits)) return 0;
  const ThreadAtPlace waker = waker_of(waits);
  const Evidence asked = sums_of(waker, woken_by(waits.at.tid), now);
  const float answers = sums_of(waits.at, woken_by(waits.waker_tid), now).episodes;
  const float idle_ns = sums_of(waker, kWholeThread, now).ended_ns;
  const bool takes_jobs = asked.jobs > 0 && asked.jobs >= kJobsShare * asked.episodes;
  if (answers <= 0 || (!takes_jobs && idle_ns > kIdleShare * ended_ns)) return 0;
  return std::min(1.0F, asked.episodes / answers);
}

void WakerEvidence::conclude(const SeenWaits& waits) {
  if (waits.at.place == 0 || waits.end == WaitEnd::None) return;
  Evidence* const evidence = table_.find(key_of(waits.at, waits.at.place));
  if (evidence == nullptr || evidence->window == window_) return;
  evidence->window = window_;
  if (evidence->wakeups < kFewestWakeups) return;
  const WaitFor now = class_of(*evidence);
  if (evidence->rather != now) evidence->agreed = 0;
  evidence->rather = now;
  if (evidence->agreed + 1 < kWindowsThatAgree) {
    ++evidence->agreed;
    return;
  }
  evidence->said = now;
}

EvidenceVerdict WakerEvidence::judge(const ThreadAtPlace& at, WaitFor by_rule, MonotonicTime now,
                                     bool hands_over) const {
  const Evidence* evidence = table_.find(key_of(at, at.place));
  if (evidence != nullptr && evidence->process_start_ns != at.process_start_ns) evidence = nullptr;
  // A lock that names know has signs of its own where it is contended; an answer may have none.
  const bool is_young = evidence == nullptr || !evidence->said;
  const bool no_sign = !is_young && evidence->said == WaitFor::Work;
  const auto named = is_young || no_sign ? named_at(at, hands_over) : std::nullopt;
  if (named && (is_young || *named == WaitFor::Answer)) return {*named};
  if (evidence == nullptr) return {by_rule};
  const bool was_young = now - evidence->began < kYoung;
  const WaitFor otherwise = by_rule == WaitFor::Unknown && !was_young ? WaitFor::Work : by_rule;
  if (!evidence->said) return {otherwise};
  const WaitFor said = *evidence->said;
  if (said == WaitFor::Work && by_rule != WaitFor::Unknown) return {by_rule};
  return {.wait_for = said, .certain = said == WaitFor::Lock || said == WaitFor::Timer};
}

}  // namespace offcpud
