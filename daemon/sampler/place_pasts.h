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
#include "snapshot/snapshot.h"
#include "stacks/wait_sums.h"

namespace offcpud {

// How long waits took at places where nobody can tell what they are for: about 250 bytes for each.
// When there is no room, the largest unit of the user who holds most gives way (ShareSlots), with
// the place where nothing ended for longest, so that no user takes what is known of others. Times
// are CLOCK_MONOTONIC. Used by one thread.
class PlacePasts {
 public:
  static constexpr std::size_t kMost = 16'384;
  // Numbers of waits, and the longest of them, halve in these times.
  static constexpr std::chrono::minutes kHalfLife{10}, kLongestHalfLife{60};
  // A place is lively between ends of waits that are no further apart than this. Where samples
  // are just enough, there are three in it on average.
  static constexpr std::chrono::seconds kMostApart{30};
  // Nothing is usual at a place that was lively for less than this.
  static constexpr std::chrono::seconds kLeastSeen{60};
  static constexpr float kFewestSamples = 100;
  // Silence is no accident: so many samples would have come from the place meanwhile, half of which
  // may be lost.
  static constexpr double kSurelySilent = 40;
  // A silence that is as usual as this is none: so many times the longest wait.
  static constexpr std::uint64_t kOfLongest = 2;

  explicit PlacePasts(std::size_t most = kMost);

  // Equal for equal functions of the program (without any, of the kernel) in one unit (path of its
  // cgroup), process name and reason, for as long as the object lives; never 0. Nobody can choose
  // names so that two are equal. The innermost functions of the kernel vary: a sample that was
  // taken before the thread left the CPU has fewer of them.
  [[nodiscard]] std::uint64_t place_of(std::string_view unit, const offcpud_sample& sample,
                                       std::span<const StackFrame> user,
                                       std::span<const StackFrame> kernel) const;

  // The windows follow one another. `deaf`: so much of this one is lost that a place may have been
  // lively, and nobody heard of it.
  void begin_window(std::uint64_t end_ns, bool deaf);

  // The same number for equal paths of cgroups, for as long as the object lives.
  [[nodiscard]] std::uint64_t unit_of(std::string_view path) const;

  // Waits that ended at a place within the window, with the same stack.
  struct Holder {
    ShareOwner owner;
    std::uint64_t unit = 0;  // unit_of()
    friend bool operator<(const Holder& a, const Holder& b) {
      return std::tie(a.owner, a.unit) < std::tie(b.owner, b.unit);
    }
  };
  void learn(std::uint64_t place, const Holder& holder, const WaitSum& sum);
  // So much of these units has no stack in this window that their places may have been lively, and
  // nobody knows. Call it after learn().
  void deafen(const std::set<std::uint64_t>& units);

  // What was usual there before the block that began at `since_ns` and still lasts. Null: the place
  // has not gone silent about when the block began, it is not silent for much longer than any of
  // its waits took, or too little is known of it. So is a silence that is longer than the time in
  // which the place was seen to be lively: it may be what is usual from now on.
  [[nodiscard]] std::shared_ptr<const UsualWaits> usual_of(std::uint64_t place,
                                                           std::uint64_t since_ns) const;

  [[nodiscard]] std::size_t size() const { return slots_.size(); }
  // Places that had to go, or were not taken in, for lack of room since the start.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  // By length: the last one has all that are longer.
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
    std::uint64_t faded_ns = 0;   // when the following were as they are
    float lively_seconds = 0, samples = 0, longest_ns = 0;  // `samples` came within that time
    std::array<float, kOctaves> waits{};                    // estimates
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
