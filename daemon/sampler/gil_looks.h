// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/share_owner.h"
#include "holders/gil_wait.h"
#include "python/python_gil.h"
#include "reader/process_memory.h"
#include "sample.h"
#include "sampler/python_processes.h"
#include "stacks/stack_source.h"

namespace offcpud {

// Finds who holds the GIL of Python programs, and who waits for it, by looks at their blocked
// threads. Those that wait are known by the futex that they wait for. A holder is told if two looks
// at a process, one after the other, find the same one, and no other thread has had the GIL in
// between. Used by one thread.
class GilLooks {
 public:
  static constexpr std::size_t kMost = 1'024;         // processes that are remembered
  static constexpr std::size_t kMostOfProcess = 256;  // waiting threads in one look
  // Waiting threads of the latest looks: of one user, and of all.
  static constexpr std::size_t kMostOfUser = 2'048, kMostOfAll = 8'192;
  // After a look, the threads that wait for a GIL that changes hands are told for this long.
  static constexpr std::chrono::seconds kGoodFor{3};
  static constexpr std::uint8_t kMostUnseen = 3;  // looks without a thread that waited
  // The GIL's address is read again after this time: the process may run another program.
  static constexpr std::chrono::seconds kFoundFor{60};

  // All must outlive the object.
  GilLooks(ProcessMemory& memory, PythonProcesses& processes, const Clock& clock)
      : memory_(memory), processes_(processes), clock_(clock) {}

  // Adds a blocked thread of the process that is looked at.
  void see(const offcpud_blocked_record& record);
  // Ends the look at this process: reads its GIL if somebody waits or waited for it.
  void end_look();

  // Who waits, by the latest look at each process. Reads the GILs again, because a holder may have
  // given its GIL away since. Asks the kernel for the holders; each must be a thread that lives.
  Result<std::vector<GilWait>> take(StackSource& kernel);

  // Waiting threads for which there was no room, since the start; once for each look. Also those
  // of processes that made room for others.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  using Key = std::pair<std::uint32_t, std::uint64_t>;  // process and its start
  struct Process {
    ShareOwner owner = std::nullopt;  // its user
    std::shared_ptr<const PythonRuntime> runtime = nullptr;
    std::uint64_t gil = 0;  // its address; 0: it was not found
    MonotonicTime found{};
    MonotonicTime looked{};
    std::optional<PythonGil> state{};  // by the last read, if that named a holder
    bool was_read = false;             // for the last look
    bool changed = false;              // reads for this look or the last one found several states
    // The last look found the state of the read before it. So nobody else has had the GIL since
    // then, and whoever was seen to wait for it in between still waits.
    bool is_sure = false;
    std::vector<GilWait> waits{};

    [[nodiscard]] LockLook look() const;
    // The key by which the kernel finds the holder.
    [[nodiscard]] std::uint64_t owner_key() const {
      return offcpud_owner_key(waits.front().tgid, state->tid);
    }
  };

  Process& begin_look(const offcpud_sample& sample);
  void find_gil(const Key& key, Process& process);
  [[nodiscard]] std::size_t room_for(const Key& key) const;
  bool read(const Key& key, Process& process);
  void go_on_waiting(std::span<const GilWait> waited, std::vector<GilWait>& seen,
                     std::uint64_t now_ns);
  void forget_oldest();

  ProcessMemory& memory_;
  PythonProcesses& processes_;
  const Clock& clock_;
  std::map<Key, Process> known_;
  std::optional<Key> now_;     // the process that is looked at
  std::vector<GilWait> seen_;  // of it
  std::size_t room_ = 0;       // for it
  std::uint64_t left_out_ = 0;
};

}  // namespace offcpud
