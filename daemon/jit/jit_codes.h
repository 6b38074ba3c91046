// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "base/clock.h"
#include "jit/hotspot_code.h"
#include "jit/jit_code.h"
#include "reader/process_memory.h"
#include "symbols/perf_map_finder.h"

namespace offcpud {

// The code of each process as it was read last, for threads that name addresses. Thread-safe.
class JitCodeBoard {
 public:
  // `code` null: forgets the process.
  void put(const PerfMapProcess& process, std::shared_ptr<const JitCode> code);
  [[nodiscard]] std::shared_ptr<const JitCode> find(const PerfMapProcess& process) const;

 private:
  mutable std::mutex mutex_;
  std::map<PerfMapProcess, std::shared_ptr<const JitCode>> codes_;
};

// Reads the compiled code of Java programs that have samples in such code. Programs go on
// compiling, so it reads them again as long as such samples come. Used by one thread.
class JitCodes {
 public:
  static constexpr std::size_t kMostProcesses = 32;
  // The most bytes of all processes together. Beyond, the code of the process that was seen longest
  // ago is forgotten, and is read again after kLatest.
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20;
  // The time between two reads of a process; kSoonest while its stacks contain code that is not
  // known yet.
  static constexpr std::chrono::seconds kInterval{15}, kSoonest{2};
  // After its last such sample, a process is read again for kUsed, and its code is kept for kKept.
  static constexpr std::chrono::minutes kUsed{2}, kKept{10};
  // The next read waits at least kShare times as long as the last one took, or kLatest if that is
  // less.
  static constexpr int kShare = 50;
  static constexpr std::chrono::minutes kLatest{1};

  // Called when the code of a process has changed.
  using Changed = std::function<void(std::uint32_t tgid, const JitCode& code)>;

  // The references must outlive the object. `clock` also measures how long reading takes.
  JitCodes(ProcessMemory& memory, const Clock& clock, std::shared_ptr<JitCodeBoard> board,
           Changed changed, std::size_t most_bytes = kMostBytes)
      : memory_(memory),
        clock_(clock),
        board_(std::move(board)),
        changed_(std::move(changed)),
        most_bytes_(most_bytes) {}

  // Reports that a stack of the process has these addresses in compiled code. `base`: where the
  // libjvm.so of the process is mapped.
  void seen(const PerfMapProcess& process, std::uint64_t base,
            std::span<const std::uint64_t> addresses);

  // Reads one process that is due, which takes some milliseconds. Call it often.
  void refresh();

 private:
  struct Known {
    std::uint64_t base = 0;
    std::optional<HotspotCode> reader;    // nothing: its layout was not read yet
    std::shared_ptr<const JitCode> code;  // null: it was not read yet
    std::size_t bytes = 0;                // of both
    MonotonicTime seen, due, soonest;
  };
  void read(const PerfMapProcess& process, Known& known);
  void forget_oldest();
  void make_room(const Known& but);

  ProcessMemory& memory_;
  const Clock& clock_;
  std::shared_ptr<JitCodeBoard> board_;
  Changed changed_;
  std::size_t most_bytes_;
  std::map<PerfMapProcess, Known> processes_;
};

}  // namespace offcpud
