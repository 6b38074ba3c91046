// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/share_owner.h"
#include "base/share_slots.h"
#include "goroutines/watched_program.h"
#include "pipeline/view.h"

namespace offcpud {

// The processes of the host, and which of them run Go programs that are watched. A user with many
// programs takes no places of others (ShareSlots). Used by one thread.
class GoProcesses {
 public:
  static constexpr std::size_t kMostPrograms = 48;
  static constexpr std::size_t kMost = 32'768;  // others are not looked at
  // A process that changes its name may have begun another program, so it is tried again, at most
  // this often.
  static constexpr std::chrono::seconds kAfterRenaming{10};

  struct Process {
    std::uint32_t pid = 0;
    std::uint64_t start_ns = 0;
    std::string comm;
    std::shared_ptr<const SubjectLabels> labels;
    std::unique_ptr<WatchedProgram> program;  // null: it is not watched
    MonotonicTime due{};                      // of the next look
    // When it was last tried, to find out whether it runs a Go program. `again`: when to try next;
    // nullopt: only if it changes.
    MonotonicTime tried = MonotonicTime::min();
    std::optional<MonotonicTime> again;
    ShareSlots::Slot slot = 0;  // of a process that is watched
    std::uint64_t view = 0;     // the last one that had it
  };
  // Gets each process that is no longer watched, before its program is forgotten.
  using Ended = std::function<void(Process& process)>;

  explicit GoProcesses(Ended ended) : ended_(std::move(ended)) {}

  // Updates the processes from the View.
  void follow(const View& view, MonotonicTime now);
  // A process to try now (see Process). Null: there is none.
  [[nodiscard]] Process* next_to_try();
  // Makes room for one more program: if there is none, a program of the user who has most gives
  // way. False: none does.
  bool make_room(const Process& process, const ShareOwner& owner, MonotonicTime now);
  void watch(Process& process, std::unique_ptr<WatchedProgram> program, const ShareOwner& owner,
             MonotonicTime now);
  // `again`: see Process.
  void unwatch(Process& process, std::optional<MonotonicTime> again);
  void forget_all();

  // Whose look is due first. Null: nobody is watched.
  [[nodiscard]] Process* first_due();
  template <class Act>
  void for_each_watched(Act act) {
    for (const auto& [slot, process] : watched_) act(*process);
  }
  [[nodiscard]] std::size_t programs() const { return watched_.size(); }

 private:
  using Key = std::pair<std::uint32_t, std::uint64_t>;  // pid, start
  void ask_to_try(const Process& process) { queue_.emplace_back(process.pid, process.start_ns); }

  const Ended ended_;
  std::map<Key, Process> processes_;
  std::deque<Key> queue_;
  std::map<ShareSlots::Slot, Process*> watched_;
  ShareSlots slots_{kMostPrograms};
  std::uint64_t views_ = 0;
};

}  // namespace offcpud
