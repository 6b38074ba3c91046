// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/share_owner.h"
#include "base/share_slots.h"
#include "base/wait_for.h"
#include "base/word_hash.h"

namespace offcpud {

// A place in a process: a stack, by names, whose rule asks for evidence.
struct ProcessPlace {
  std::uint32_t tgid = 0;
  std::uint64_t process_start_ns = 0;  // CLOCK_BOOTTIME
  std::uint64_t place = 0;             // ThreadAtPlace::place

  friend bool operator==(const ProcessPlace&, const ProcessPlace&) = default;
  friend bool operator<(const ProcessPlace& a, const ProcessPlace& b) {
    return std::tie(a.tgid, a.process_start_ns, a.place) <
           std::tie(b.tgid, b.process_start_ns, b.place);
  }
};

// What evidence last said of the waits at each place, for callers that see only the sum of these
// waits. When there is no room, the place put least recently gives way (ShareSlots). Used by one
// thread.
class PlaceClasses {
 public:
  static constexpr std::size_t kMost = 8'192;
  static constexpr std::chrono::minutes kKept{10};

  // By WaitFor. put() takes times; find() returns shares, which add up to 1.
  using Times = std::array<double, kWaitForNames.size()>;

  // Replaces what was said of the place, which is in a process of this user. False: for lack of
  // room, this was left out, or what was lately said of another place was dropped.
  bool put(const ProcessPlace& at, const ShareOwner& owner, const Times& times, MonotonicTime now);
  // Null: nothing was said, or too long ago. Valid until the next call of put().
  [[nodiscard]] const Times* find(const ProcessPlace& at, MonotonicTime now) const;

 private:
  using Slot = ShareSlots::Slot;
  struct Said {
    ProcessPlace at;
    Times shares{};
  };
  struct Hash {
    std::size_t operator()(const ProcessPlace& at) const {
      return hash_joined(hash_joined(kHashBasis ^ at.place, at.tgid), at.process_start_ns);
    }
  };
  enum class Room : std::uint8_t { Free, Taken, None };

  Room make_room(std::uint32_t tgid, const ShareOwner& owner, MonotonicTime now);
  void forget(Slot slot);

  ShareSlots slots_{kMost};  // by process number
  std::vector<Said> said_;   // by slot
  std::unordered_map<ProcessPlace, Slot, Hash> places_;
  std::optional<MonotonicTime> swept_;  // when old places were last forgotten
};

}  // namespace offcpud
