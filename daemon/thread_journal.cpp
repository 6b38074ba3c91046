// SPDX-License-Identifier: Apache-2.0
#include "thread_journal.h"

#include <algorithm>

#include "base/duration_text.h"
#include "base/thread_start.h"
#include "runtime/logging.h"
#include "runtime/message_ids.h"

namespace offcpud {
namespace {

using Kind = StuckThreads::Change::Kind;

void tell(const StuckThreads::Change& change) {
  const ThreadState& state = change.state;
  switch (change.kind) {
    case Kind::Stuck:
      return log_error("stuck: " + sentence_of(state, true) + ", which takes less than " +
                           duration_text(state.limits.stuck) +
                           " on a busy host; what depends on it is not answered",
                       {{kMessageId, kThreadStuckId},
                        {"thread", state.name},
                        {"work", state.work},
                        {"subject", state.subject}});
    case Kind::Hopeless:
      return log_error("stuck for good: " + sentence_of(state, true) +
                           "; the watchdog of the service manager is not fed any more, and outside "
                           "of a service somebody has to restart offcpud",
                       {{kMessageId, kThreadStuckId}, {"thread", state.name}});
    case Kind::GoesOn:
      return log_info(
          "thread " + state.name + " is not stuck any more; it was for " +
              duration_text(state.longest) + " at one piece of work",
          {{kMessageId, kThreadGoesOnId},
           {"thread", state.name},
           {"duration_seconds",
            std::to_string(std::chrono::floor<std::chrono::seconds>(state.longest).count())}});
  }
}

}  // namespace

std::vector<StuckThreads::Change> StuckThreads::update(const std::vector<ThreadState>& states) {
  std::vector<Change> changes;
  for (const ThreadState& state : states) {
    const auto told = told_.find(state.name);
    if (!state.stuck) {
      if (told == told_.end()) continue;
      ThreadState ended = state;
      ended.longest = told->second.longest;
      told_.erase(told);
      changes.push_back({Kind::GoesOn, std::move(ended)});
      continue;
    }
    if (told == told_.end()) changes.push_back({Kind::Stuck, state});
    Told& now = told_[state.name];
    now.longest = std::max(now.longest, state.longest);
    if (!state.hopeless() || now.hopeless) continue;
    now.hopeless = true;
    changes.push_back({Kind::Hopeless, state});
  }
  return changes;
}

ThreadJournal::ThreadJournal(const ThreadWatch& threads)
    : threads_(threads), thread_(start_thread("offcpud-watch", [this] { run(); })) {}

ThreadJournal::~ThreadJournal() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ThreadJournal::run() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kInterval, [this] { return stopping_; })) {
    for (const StuckThreads::Change& change : stuck_.update(threads_.states())) tell(change);
  }
}

}  // namespace offcpud
