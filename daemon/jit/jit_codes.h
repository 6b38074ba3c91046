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

// What is known of the code of processes now, for those who name addresses. Any thread may use it.
class JitCodeBoard {
 public:
  // Null: nothing is known of the process any more.
  void put(const PerfMapProcess& process, std::shared_ptr<const JitCode> code);
  [[nodiscard]] std::shared_ptr<const JitCode> find(const PerfMapProcess& process) const;

 private:
  mutable std::mutex mutex_;
  std::map<PerfMapProcess, std::shared_ptr<const JitCode>> codes_;
};

// Reads the compiled code of Java programs that have samples in such code, and again as long as
// they have, since programs go on compiling. Used by one thread.
class JitCodes {
 public:
  static constexpr std::size_t kMostProcesses = 32;
  // How often a process is read; and at most, while stacks are in code that is not known.
  static constexpr std::chrono::seconds kInterval{15}, kSoonest{2};
  // How long after its last such sample, and how long what was read is kept.
  static constexpr std::chrono::minutes kUsed{2}, kKept{10};
  // Reading one process takes at most this part of the time, but is never put off for longer than
  // kLatest.
  static constexpr int kShare = 50;
  static constexpr std::chrono::minutes kLatest{1};

  // Called when the code of a process is not what it was.
  using Changed = std::function<void(std::uint32_t tgid, const JitCode& code)>;

  // All must outlive the object. `clock` also measures how long reading takes.
  JitCodes(ProcessMemory& memory, const Clock& clock, std::shared_ptr<JitCodeBoard> board,
           Changed changed)
      : memory_(memory), clock_(clock), board_(std::move(board)), changed_(std::move(changed)) {}

  // A stack of the process is in compiled code at these addresses, and in the libjvm.so that is
  // mapped from `base` on.
  void seen(const PerfMapProcess& process, std::uint64_t base,
            std::span<const std::uint64_t> addresses);

  // Reads one process that is due, which takes some milliseconds. Call it often.
  void refresh();

 private:
  struct Known {
    std::uint64_t base = 0;
    std::optional<HotspotCode> reader;    // nothing: its layout was not read yet
    std::shared_ptr<const JitCode> code;  // null: it was not read yet
    MonotonicTime seen, due, soonest;
  };
  void read(const PerfMapProcess& process, Known& known);
  void forget_oldest();

  ProcessMemory& memory_;
  const Clock& clock_;
  std::shared_ptr<JitCodeBoard> board_;
  Changed changed_;
  std::map<PerfMapProcess, Known> processes_;
};

}  // namespace offcpud
