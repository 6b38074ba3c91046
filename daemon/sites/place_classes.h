// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "base/clock.h"
#include "base/wait_for.h"
#include "base/word_hash.h"

namespace offcpud {

// A place in a process: a stack, by names, whose rule asks for evidence.
struct ProcessPlace {
  std::uint32_t tgid = 0;
  std::uint64_t process_start_ns = 0;  // CLOCK_BOOTTIME
  std::uint64_t place = 0;             // ThreadAtPlace::place

  friend bool operator==(const ProcessPlace&, const ProcessPlace&) = default;
};

// What evidence said last of all waits at a place, for those who see only their sum. Used by one
// thread.
class PlaceClasses {
 public:
  static constexpr std::size_t kMost = 8'192;
  static constexpr std::chrono::minutes kKept{10};

  // By what they were for: time, and as shares of it, which add up to 1.
  using Times = std::array<double, kWaitForNames.size()>;

  // Replaces what was said before. False: there is no room.
  bool put(const ProcessPlace& at, const Times& times, MonotonicTime now);
  // Null: nothing was said, or too long ago. Valid until the next call of put().
  [[nodiscard]] const Times* find(const ProcessPlace& at, MonotonicTime now) const;

 private:
  struct Said {
    Times shares{};
    MonotonicTime at{};
  };
  struct Hash {
    std::size_t operator()(const ProcessPlace& at) const {
      return hash_joined(hash_joined(kHashBasis ^ at.place, at.tgid), at.process_start_ns);
    }
  };

  std::unordered_map<ProcessPlace, Said, Hash> said_;
};

}  // namespace offcpud
