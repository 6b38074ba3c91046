// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/share_owner.h"
#include "base/share_slots.h"
#include "pipeline/wait_window.h"
#include "sampler/answer_past.h"
#include "snapshot/snapshot.h"
#include "stacks/wait_sums.h"

namespace offcpud {

// Remembers how long waits took at places where nobody can tell what they are for, or where only
// files say that they are for an answer, in about 300 bytes for each place. When there is no room,
// the largest unit of the user who holds most loses the place where no wait has ended for longest
// (ShareSlots), so that no user takes the room of others. Times are CLOCK_MONOTONIC. Used by one
// thread.
class PlacePasts {
 public:
  static constexpr std::size_t kMost = 16'384;
  // The half-lives of the number of waits, and of the longest of them.
  static constexpr std::chrono::minutes kHalfLife{10}, kLongestHalfLife{60};
  // A place is lively between two ends of waits that are no further apart than this. At a place
  // with kFewestSamples, three come within this time on average.
  static constexpr std::chrono::seconds kMostApart{30};
  // Nothing is usual at a place that was lively for less than this.
  static constexpr std::chrono::seconds kLeastSeen{60};
  static constexpr float kFewestSamples = 100;
  // A silence is no accident if this many samples would have come from the place meanwhile; half of
  // them may have been lost.
  static constexpr double kSurelySilent = 40;
  // A silence must last at least this many times as long as the longest wait.
  static constexpr std::uint64_t kOfLongest = 2;

  explicit PlacePasts(std::size_t most = kMost);

  // The number of a place. Waits have the same one if their functions of the program (if there are
  // none, of the kernel), path of the cgroup, name of the process and reason are the same. Valid as
  // long as the object; never 0. Nobody can choose names that give two places one number. The
  // kernel's innermost functions vary: a sample taken before the thread left the CPU has fewer.
  [[nodiscard]] std::uint64_t place_of(std::string_view unit, const offcpud_sample& sample,
                                       std::span<const StackFrame> user,
                                       std::span<const StackFrame> kernel) const;

  // Begins the next window. `deaf`: so much of it was lost that waits may have ended at a place
  // unnoticed.
  void begin_window(std::uint64_t end_ns, bool deaf);

  // A number for the path of a cgroup, valid as long as the object.
  [[nodiscard]] std::uint64_t unit_of(std::string_view path) const;

  // Who holds places: one unit of one user.
  struct Holder {
    ShareOwner owner;
    std::uint64_t unit = 0;  // unit_of()
    friend bool operator<(const Holder& a, const Holder& b) {
      return std::tie(a.owner, a.unit) < std::tie(b.owner, b.unit);
    }
  };
  void learn(std::uint64_t place, const Holder& holder, const WaitSum& sum);
  // An answer ended a wait of this length at a place that is known: see AnswerPast::add().
  void learn_answer(std::uint64_t place, std::uint64_t length_ns, double waits, bool is_first);
  // Unknown for a place that is not known.
  [[nodiscard]] AnswerPast::Habit habit_at(std::uint64_t place) const;
  // Notes that waits may have ended unnoticed at places of these units, because too many of their
  // waits in this window have no stack. Call it after learn().
  void deafen(const std::set<std::uint64_t>& units);

  // What was usual at the place until a block began at `since_ns` that still lasts. Null unless the
  // place went silent when the block began, has been silent for much longer than any of its waits
  // took, and enough is known of it. Also null once it has been silent for longer than it was seen
  // to be lively, because silence may be usual from then on.
  [[nodiscard]] std::shared_ptr<const UsualWaits> usual_of(std::uint64_t place,
                                                           std::uint64_t since_ns) const;

  [[nodiscard]] std::size_t size() const { return slots_.size(); }
  // Places that were removed or refused for lack of room, since the start.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  // Octaves of lengths of waits; the last one has all longer waits.
  static constexpr std::size_t kOctaves = 26;
  using Slot = ShareSlots::Slot;
  struct Held {
    std::uint32_t number = 0;   // never 0
    std::uint64_t deaf_ns = 0;  // end of the last window in which deafen() named its unit
  };
  using Numbers = std::map<Holder, Held>;

  struct Past {
    std::uint64_t place = 0;
    Numbers::iterator holder;
    std::uint64_t last_ns = 0;    // end of the last wait
    std::uint64_t woke_ns = 0;    // end of the window in which it became lively
    std::uint64_t lively_ns = 0;  // since the start
    std::uint64_t faded_ns = 0;   // up to when the following numbers have faded
    float lively_seconds = 0, samples = 0, longest_ns = 0;  // `samples` came within that time
    std::array<float, kOctaves> waits{};                    // estimates
    AnswerPast answers;
  };

  Past* touch(std::uint64_t place, const Holder& holder);
  bool make_room(const Holder& holder);
  Numbers::iterator number_of(const Holder& holder);
  void forget(Slot slot);
  [[nodiscard]] MonotonicTime now() const {
    return MonotonicTime(std::chrono::nanoseconds(end_ns_));
  }
  void fade(Past& past) const;
  void add_lively(Past& past, const WaitSum& sum) const;
  [[nodiscard]] static UsualWaits usual(const Past& past);
  [[nodiscard]] static double samples_within(const Past& past, std::uint64_t silent_ns);

  std::uint64_t seed_;
  ShareSlots slots_;         // by number of a holder
  std::vector<Past> pasts_;  // by slot
  std::unordered_map<std::uint64_t, Slot> places_;
  Numbers numbers_;  // of those who hold places
  std::uint32_t last_number_ = 0;
  std::uint64_t end_ns_ = 0, deaf_ns_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace offcpud
