// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "golang/go_functions.h"
#include "golang/go_runtime.h"
#include "golang/go_stack.h"
#include "reader/process_memory.h"

namespace offcpud {

struct GoroutineLimits {
  std::size_t goroutines = 20'000;            // looked at in one look, or some hundreds more
  std::chrono::nanoseconds time{20'000'000};  // of one look; one part is looked at in any case
  std::size_t stacks = 2'048;                 // different ones
  // Each look begins one part later than the one before, so that every goroutine gets its turn.
  bool takes_turns = false;
};

// A goroutine that waits.
struct WaitingGoroutine {
  std::uint64_t id = 0;
  std::uint8_t reason = 0;     // GoRuntime::reasons
  std::uint32_t stack = 0;     // GoroutineReader::stack()
  std::uint64_t since_ns = 0;  // see GoLayout::wait_since
  // How many looks in a row have seen the same wait, the first of them at `seen_since`.
  std::uint32_t sightings = 1;
  MonotonicTime seen_since{};
};

// What one look at a process found.
struct GoroutineLook {
  MonotonicTime at{};
  std::uint64_t all = 0;         // goroutines that the runtime has, ended ones among them
  std::uint64_t looked_at = 0;   // of these, spread evenly
  std::uint64_t unreadable = 0;  // of these
  // Of those looked at: by what they did. Statuses are those of the runtime.
  std::uint64_t ended = 0, running = 0, runnable = 0, in_call = 0, other = 0;
  // Of `waiting`: those that changed while they were read, and those whose stacks do not lead to
  // where goroutines begin.
  std::uint64_t changed = 0, lost = 0;
  std::vector<WaitingGoroutine> waiting;
};

// Reads which goroutines of a process wait and where, from outside, while they run. What changed
// meanwhile is noticed: such a goroutine has no stack. The memory is untrusted. Used by one thread.
class GoroutineReader {
 public:
  static constexpr std::size_t kAtOnce = 256;  // goroutines that are read together
  // Addresses of goroutines that are read; more take too long.
  static constexpr std::uint64_t kMostAddresses = std::uint64_t{1} << 19;
  // Numbers that stand for no stack.
  static constexpr std::uint32_t kChanged = 0;  // the goroutine changed while it was read
  static constexpr std::uint32_t kLeftOut = 1;  // there are too many different stacks

  // All must outlive the object.
  GoroutineReader(ProcessMemory& memory, const Clock& clock, std::uint32_t tgid,
                  const GoRuntime& runtime, GoFunctions& functions, GoroutineLimits limits = {});

  // nullopt: the list of goroutines cannot be read.
  std::optional<GoroutineLook> look();

  // Sets GoroutineLimits::time of the next looks.
  void set_time(std::chrono::nanoseconds time) { limits_.time = time; }

  // `number`: WaitingGoroutine::stack. Empty for kChanged and kLeftOut.
  [[nodiscard]] const GoStack& stack(std::uint32_t number) const { return *stacks_[number]; }

 private:
  // A wait of a goroutine, by what tells it from another one.
  struct Wait {
    std::uint64_t id = 0, stack_pointer = 0, instruction = 0, since_ns = 0;
    std::uint8_t reason = 0, counter = 0;
  };
  struct Known {
    Wait wait;
    std::uint32_t stack = kChanged, sightings = 1;
    MonotonicTime seen_since{};
    std::uint64_t look = 0;
  };
  struct Wanted;  // one whose stack has to be read

  // The addresses of goroutines, and how many there are if these are too many to be read.
  struct List {
    std::uint64_t length = 0;
    std::vector<std::uint64_t> addresses;
  };
  [[nodiscard]] std::optional<List> read_list() const;
  void read_some(std::span<const std::uint64_t> addresses, GoroutineLook& look);
  void read_stacks(std::vector<Wanted>& wanted);
  void settle(std::vector<Wanted>& wanted, GoroutineLook& look);
  [[nodiscard]] Wait wait_of(std::span<const std::byte> goroutine) const;
  [[nodiscard]] static bool is_alike(const Wait& one, const Wait& other);
  [[nodiscard]] bool is_same_wait(const Wait& one, const Wait& other) const;
  [[nodiscard]] bool waits(std::span<const std::byte> goroutine) const;
  void count(std::span<const std::byte> goroutine, GoroutineLook& look) const;
  std::uint32_t number_of(GoStack stack);

  ProcessMemory& memory_;
  const Clock& clock_;
  std::uint32_t tgid_;
  const GoRuntime& runtime_;
  GoFunctions& functions_;
  GoroutineLimits limits_;
  std::uint64_t looks_ = 0;
  std::unordered_map<std::uint64_t, Known> known_;  // by address of the goroutine
  std::map<std::vector<std::uint32_t>, std::uint32_t> numbers_;
  std::vector<std::unique_ptr<const GoStack>> stacks_;
};

}  // namespace offcpud
