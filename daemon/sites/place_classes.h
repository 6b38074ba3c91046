// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "base/clock.h"
#include "base/share_owner.h"
#include "base/share_ranks.h"
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

// What evidence said last of all waits at a place, for those who see only their sum. When there is
// no room, the largest process of the user who holds most gives way, with the place of which
// nothing was said for longest. Used by one thread.
class PlaceClasses {
 public:
  static constexpr std::size_t kMost = 8'192;
  static constexpr std::chrono::minutes kKept{10};

  // By what they were for: time, and as shares of it, which add up to 1.
  using Times = std::array<double, kWaitForNames.size()>;

  // Replaces what was said before of the place, which is in a process of this user. False: for lack
  // of room, this or what was said of another place lately is left out.
  bool put(const ProcessPlace& at, const ShareOwner& owner, const Times& times, MonotonicTime now);
  // Null: nothing was said, or too long ago. Valid until the next call of put().
  [[nodiscard]] const Times* find(const ProcessPlace& at, MonotonicTime now) const;

 private:
  using ByAge = std::multimap<MonotonicTime, ProcessPlace>;
  struct Said {
    Times shares{};
    MonotonicTime at{};
    ByAge::iterator age;
  };
  struct Hash {
    std::size_t operator()(const ProcessPlace& at) const {
      return hash_joined(hash_joined(kHashBasis ^ at.place, at.tgid), at.process_start_ns);
    }
  };
  // All processes that had this number.
  struct Process {
    ShareOwner owner;  // of the first one
    ByAge places;      // by when something was said of them
  };
  enum class Room : std::uint8_t { Free, Taken, None };

  Room make_room(std::uint32_t tgid, const ShareOwner& owner, MonotonicTime now);
  void sweep(MonotonicTime now);
  void forget_oldest(std::uint32_t tgid, Process& process);

  std::unordered_map<ProcessPlace, Said, Hash> said_;
  std::unordered_map<std::uint32_t, Process> processes_;  // by number
  ShareRanks ranks_;                                      // of places
  std::optional<MonotonicTime> swept_;                    // when it last was
};

}  // namespace offcpud
