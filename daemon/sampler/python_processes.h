// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/share_owner.h"
#include "python/python_runtime.h"
#include "reader/process_memory.h"
#include "sample.h"
#include "sampler/process_owners.h"
#include "stacks/stack_sums.h"
#include "unwind/remote_walk.h"

namespace offcpud {

// Finds the CPython of processes by the objects on their threads' stacks. Looks at each process
// once, with some 30 reads, and remembers the result. Used by one thread.
class PythonProcesses {
 public:
  static constexpr std::size_t kMost = 1'024;       // the one not seen for longest makes room
  static constexpr std::size_t kMostNew = 64;       // looked at in one walk
  static constexpr std::size_t kMostLookedAt = 16;  // at once
  static constexpr std::chrono::seconds kLookedAtFor{60};
  // Memory that could not be read, or did not fit, is looked at again after this time.
  static constexpr std::chrono::seconds kAgain{60};

  // A sentence about a process whose Python is refused.
  using Refused = std::function<void(const std::string& sentence)>;

  // `lookup`: knows the load addresses of objects; null: nobody does. All must outlive the object.
  PythonProcesses(const UnwindLookup* lookup, ProcessMemory& memory, const Clock& clock,
                  Refused refused, ProcessOwners::UserOf user_of = real_uid_of)
      : lookup_(lookup),
        memory_(memory),
        clock_(clock),
        refused_(std::move(refused)),
        user_of_(std::move(user_of)) {}

  enum class Is : std::uint8_t { Python, NotPython, Refused, NotNow };
  struct Found {
    Is is = Is::NotPython;
    std::shared_ptr<const PythonRuntime> runtime;  // if it is Python
  };
  // `frames`: the user stack of a thread of the process in `sample`.
  Found find(const offcpud_sample& sample, std::span<const LocatedFrame> frames);

  // Counts and reports a thread whose memory did not look like that of a thread of its process's
  // Python.
  void mismatch(const offcpud_sample& sample);

  // What find() has found of the process last; null: nothing, or it is refused.
  [[nodiscard]] std::shared_ptr<const PythonRuntime> runtime_of(std::uint32_t tgid,
                                                                std::uint64_t start_ns) const;
  // The user of that process; nothing: as runtime_of(), or unknown.
  [[nodiscard]] ShareOwner owner_of(std::uint32_t tgid, std::uint64_t start_ns) const;
  // The process counts as found now.
  void keep(std::uint32_t tgid, std::uint64_t start_ns);

  // At most kMostLookedAt processes that have a CPython and were found within kLookedAtFor, by
  // their numbers in the daemon's PID namespace. If there are more, users take turns, and so do the
  // processes of each user: however many one has, those of others are looked at.
  [[nodiscard]] std::vector<std::uint32_t> next_to_look_at();

  // Ends a walk over threads.
  void end_walk() { new_ = 0; }

  // Refused processes since the start, by PythonRefusal; Memory also counts threads.
  using Refusals = std::array<std::uint64_t, 3>;
  [[nodiscard]] const Refusals& refusals() const { return refusals_; }

 private:
  // The process's number and start, the object's id, and the address at which it is mapped.
  using Key = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t>;
  struct Known {
    std::shared_ptr<const PythonRuntime> runtime;  // null: refused
    bool may_change = false;
    MonotonicTime looked{}, seen{};
    ShareOwner owner = std::nullopt;
    std::uint64_t turn = 0;  // the last one that it had; 0: none
  };
  [[nodiscard]] const Key* latest_of(std::uint32_t tgid, std::uint64_t start_ns) const;
  Known look(const offcpud_sample& sample, const LocatedFrame& frame, const std::string& name);
  void refuse(const offcpud_sample& sample, const std::string& name, const FoundPython& found);
  [[nodiscard]] FoundPython find_at(std::uint32_t tgid, const LocatedFrame& frame,
                                    const std::string& name) const;
  void forget_oldest();

  const UnwindLookup* lookup_;
  ProcessMemory& memory_;
  const Clock& clock_;
  Refused refused_;
  ProcessOwners::UserOf user_of_;
  std::map<Key, Known> known_;
  std::size_t new_ = 0;
  std::uint64_t turns_ = 0;
  Refusals refusals_{};
};

}  // namespace offcpud
