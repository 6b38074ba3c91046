// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/clock.h"
#include "base/wait_for.h"
#include "sites/evidence_table.h"
#include "sites/place_crowds.h"

namespace offcpud {

// A thread at a place. The same numbers with another start are another process.
struct ThreadAtPlace {
  std::uint32_t tgid = 0;
  std::uint32_t tid = 0;
  std::uint64_t process_start_ns = 0;  // CLOCK_BOOTTIME
  ShareOwner owner{};                  // whose process it is
  // A number for the stack, the same for all threads that have it; 0: its rule asks for no
  // evidence.
  std::uint64_t place = 0;
  // A number for the function of a just-in-time compiled program that waits there, the same
  // whatever is inlined into it; 0: unknown.
  std::uint64_t caller = 0;
};

// What ended a wait.
enum class WaitEnd : std::uint8_t {
  None,      // it has not ended, or nobody knows who ended it
  OwnTimer,  // the time that the thread itself had asked for was over
  Thread,
  Other,  // an interrupt, for example of the network, or a kernel thread
};

// Sampled waits of one thread at one place with one waker, summed up.
struct SeenWaits {
  ThreadAtPlace at;
  std::uint64_t site = 0;               // of the rule that took the stack; 0: none did
  WaitFor wait_for = WaitFor::Unknown;  // by rules
  bool certain = false;                 // `wait_for` is what the names say, no evidence is asked
  bool named = false;                   // its interpreted functions are known
  bool hands_over = false;              // its rule asks so: SiteQuestion::Handover
  bool has_library = false;  // named functions of the language's library are below `caller`
  WaitEnd end = WaitEnd::None;
  std::uint32_t waker_tgid = 0, waker_tid = 0;  // of WaitEnd::Thread
  std::uint32_t samples = 0;
  // The time that the samples stand for. A single wait counts as a second at most, so that a long
  // one does not outweigh all others.
  double ns = 0;
  // The part within the window, however long; also of waits that have not ended.
  double whole_ns = 0, variance_ns2 = 0;
  double episodes = 0;  // estimated number that the samples stand for
};

// What evidence says of waits of a thread at a place.
struct EvidenceVerdict {
  WaitFor wait_for = WaitFor::Unknown;
  bool certain = false;  // the evidence can hardly mean anything else

  friend bool operator==(const EvidenceVerdict&, const EvidenceVerdict&) = default;
};

// Says what the waits of a thread at a place are for by what ends them, where the stack alone
// leaves it open:
// - its own timer ends more than 0.6 of the time: `timer`;
// - peers end more than 0.5: `lock`. A peer is another thread that at times waits at this very
//   place, and is woken there by threads that do so, too: who holds a lock has waited until another
//   thread released it, whereas producers do not consume. It is no lock if the peer's own timer
//   ends its waits at the site at least half as often as its peers do: then it leads a pool, and
//   waits for the time of the next task. Nor is it one if all peers wait there nearly always, so
//   that none can have held anything (PlaceCrowds);
// - at places where idle threads do not pass jobs on (SeenWaits::hands_over), threads that wake
//   each other there, and that are also woken by one and the same other thread: `lock`, for what
//   that thread hands out;
// - more than 0.5 is ended by threads of its process that it wakes as often as they wake it:
//   `answer`, if it wakes them where a rule says that they wait for work, or if they hardly wait
//   for others outside of the process. In a closed loop, that makes both sides wait for answers;
// - else `work`.
// Compilers at run time inline the functions by which rules know a wait. So what names once said of
// the waits of ThreadAtPlace::caller still counts, if it was one thing only: `answer`, until a
// class other than `work` is in force; at places that hand over also `lock`, until any class is.
// Sums decay, so that a thread that begins to do something else gets another class. A class is in
// force once two windows in a row have found it, until two in a row find another. Used by one
// thread.
class WakerEvidence {
 public:
  static constexpr std::size_t kMost = 16'384;  // threads at places, and pairs of threads
  // Of sums; and, longer, of how often pairs of threads wake each other: who answers mostly has its
  // next question at once, and such short waits are seldom sampled.
  static constexpr std::chrono::seconds kHalfLife{120}, kHalfLifeOfPairs{300};
  static constexpr float kFewestWakeups = 5;  // seen ones, whatever they stand for
  static constexpr float kTimerShare = 0.6F, kLockShare = 0.5F, kAnswerShare = 0.5F;
  // A waker does not answer if its own waits for others outside of the process, except actionable
  // ones, take more than this share of the time for which the thread that it wakes waits.
  static constexpr float kIdleShare = 0.2F;
  // It answers nevertheless if at least this share of the wakeups by that thread were jobs by name.
  static constexpr float kJobsShare = 0.5F;
  // The leader of a pool wakes the next leader each time that its timer has ended.
  static constexpr float kLeaderShare = 0.5F;
  static constexpr std::uint8_t kWindowsThatAgree = 2;
  // kAtTimes: what "at times" means above. kYoung: for how long a thread with few wakeups stays
  // `unknown`.
  static constexpr std::chrono::minutes kAtTimes{5}, kYoung{5};
  // What was not seen for this long is forgotten, because nothing reports the end of a thread.
  static constexpr std::chrono::minutes kKept{10};

  explicit WakerEvidence(std::size_t most = kMost) : table_(most) {}

  // Learns from all waits of a window, in any order. Call it once for each window.
  void learn(std::span<const SeenWaits> waits, MonotonicTime now);

  // Without evidence the answer is `by_rule`; but if that is `unknown`, and the thread has long
  // been there with too few wakeups, it is `work`. Evidence for `work` overrides only a `by_rule`
  // of `unknown`.
  [[nodiscard]] EvidenceVerdict judge(const ThreadAtPlace& at, WaitFor by_rule, MonotonicTime now,
                                      bool hands_over = false) const;

  [[nodiscard]] std::size_t size() const { return table_.size(); }
  // What was removed or refused for lack of room, since the start.
  [[nodiscard]] std::uint64_t dropped() const { return table_.dropped() + left_out_; }
  // Counts samples of waits that learn() does not get, because their sum had no room for them.
  void add_left_out(std::uint64_t samples) { left_out_ += samples; }

 private:
  void note_crowds(std::span<const SeenWaits> waits);
  void note_names(const SeenWaits& waits, MonotonicTime now);
  void note_wakers(const SeenWaits& waits, MonotonicTime now);
  void note_waiter(const SeenWaits& waits, MonotonicTime now);
  void weigh(const SeenWaits& waits, MonotonicTime now);
  void count_at_site(const SeenWaits& waits, MonotonicTime now);
  void weigh_lock(const SeenWaits& waits, MonotonicTime now);
  void conclude(const SeenWaits& waits);
  [[nodiscard]] const Evidence* waker_there(const SeenWaits& waits, MonotonicTime now) const;
  [[nodiscard]] bool may_hold(const SeenWaits& waits) const;
  [[nodiscard]] bool is_handed_over(const SeenWaits& waits) const;
  [[nodiscard]] bool leads(const SeenWaits& waits, MonotonicTime now) const;
  [[nodiscard]] float answered(const SeenWaits& waits, float ended_ns, MonotonicTime now) const;
  [[nodiscard]] std::optional<WaitFor> named_at(const ThreadAtPlace& at, bool hands_over) const;
  [[nodiscard]] Evidence sums_of(const ThreadAtPlace& at, std::uint64_t what,
                                 MonotonicTime now) const;
  Evidence* touch(const ThreadAtPlace& at, std::uint64_t what, MonotonicTime now);

  EvidenceTable table_;
  PlaceCrowds crowds_;       // of the window in hand
  MonotonicTime learned_{};  // when the window before it ended
  std::chrono::nanoseconds window_length_{};
  std::uint32_t window_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace offcpud
