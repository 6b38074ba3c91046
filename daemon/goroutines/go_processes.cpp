// SPDX-License-Identifier: Apache-2.0
#include "goroutines/go_processes.h"

#include <algorithm>
#include <iterator>

namespace offcpud {

void GoProcesses::follow(const View& view, MonotonicTime now) {
  ++views_;
  for (const ProcessRow& row : view.processes) {
    if (row.kernel_thread || row.pid == 0) continue;
    const Key key(row.pid, row.start_ns);
    auto found = processes_.find(key);
    const bool is_new = found == processes_.end();
    if (is_new && processes_.size() >= kMost) continue;
    if (is_new) found = processes_.try_emplace(key).first;
    Process& process = found->second;
    process.pid = row.pid;
    process.start_ns = row.start_ns;
    process.labels = row.labels;
    process.view = views_;
    const bool was_renamed = !is_new && process.comm != row.comm;
    process.comm = row.comm;
    if (was_renamed && !process.program) {
      const MonotonicTime soon = process.tried + kAfterRenaming;
      process.again = process.again ? std::min(*process.again, soon) : soon;
    }
    const bool is_due = process.again && *process.again <= now;
    if (is_new || is_due) {
      process.again.reset();
      ask_to_try(process);
    }
  }
  for (auto process = processes_.begin(); process != processes_.end();) {
    const bool is_gone = process->second.view != views_;
    if (is_gone) unwatch(process->second, std::nullopt);
    process = is_gone ? processes_.erase(process) : std::next(process);
  }
}

GoProcesses::Process* GoProcesses::next_to_try() {
  while (!queue_.empty()) {
    const auto found = processes_.find(queue_.front());
    queue_.pop_front();
    if (found != processes_.end() && !found->second.program) return &found->second;
  }
  return nullptr;
}

bool GoProcesses::make_room(const Process& process, const ShareOwner& owner, MonotonicTime now) {
  if (!slots_.is_full()) return true;
  const auto gives = slots_.who_gives_way(process.pid, owner, now);
  if (!gives) return false;
  unwatch(*watched_.at(*gives), std::nullopt);
  return true;
}

void GoProcesses::watch(Process& process, std::unique_ptr<WatchedProgram> program,
                        const ShareOwner& owner, MonotonicTime now) {
  process.program = std::move(program);
  process.due = now;
  process.slot = slots_.take(process.pid, owner, now);
  watched_.emplace(process.slot, &process);
}

void GoProcesses::unwatch(Process& process, std::optional<MonotonicTime> again) {
  process.again = again;
  if (!process.program) return;
  ended_(process);
  process.program.reset();
  watched_.erase(process.slot);
  slots_.give_back(process.slot);
}

void GoProcesses::forget_all() {
  for (auto& [key, process] : processes_) unwatch(process, std::nullopt);
  processes_.clear();
  queue_.clear();
}

GoProcesses::Process* GoProcesses::first_due() {
  const auto first = std::ranges::min_element(
      watched_, {}, [](const auto& watched) { return watched.second->due; });
  return first == watched_.end() ? nullptr : first->second;
}

}  // namespace offcpud
