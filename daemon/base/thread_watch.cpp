// SPDX-License-Identifier: Apache-2.0
#include "base/thread_watch.h"

#include <algorithm>

#include "base/duration_text.h"

namespace offcpud {
namespace {

bool is_worse(const ThreadState& a, const ThreadState& b) {
  if (a.stuck != b.stuck) return a.stuck;
  return a.busy > b.busy;  // nullopt is the least
}

}  // namespace

const Clock& steady_system_clock() {
  static const SystemClock clock;
  return clock;
}

std::shared_ptr<Heartbeat> ThreadWatch::add(const std::string& name, ThreadLimits limits) {
  auto heartbeat = std::make_shared<Heartbeat>(clock_, name, limits);
  const std::lock_guard lock(mutex_);
  threads_.push_back(heartbeat);
  return heartbeat;
}

std::vector<ThreadState> ThreadWatch::states() const {
  std::vector<std::shared_ptr<Heartbeat>> threads;
  {
    const std::lock_guard lock(mutex_);
    threads = threads_;
  }
  std::vector<ThreadState> states;
  for (const auto& thread : threads) {
    ThreadState state = thread->state();
    const auto same = std::ranges::find(states, state.name, &ThreadState::name);
    if (same == states.end()) {
      states.push_back(std::move(state));
    } else if (is_worse(state, *same)) {
      *same = std::move(state);
    }
  }
  return states;
}

std::optional<ThreadState> ThreadWatch::stuck() const {
  for (ThreadState& state : states()) {
    if (state.stuck && state.limits.needed) return std::move(state);
  }
  return std::nullopt;
}

std::optional<ThreadState> ThreadWatch::hopeless() const {
  for (ThreadState& state : states()) {
    if (state.hopeless()) return std::move(state);
  }
  return std::nullopt;
}

std::string sentence_of(const ThreadState& state, bool with_subject) {
  if (!state.busy && !state.stuck) return "thread " + state.name + " is idle";
  const bool goes_on = state.busy && (!state.stuck || state.longest == *state.busy);
  std::string sentence = "thread " + state.name + (goes_on ? " has been " : " was ") + state.work;
  if (with_subject && !state.subject.empty()) sentence += " (" + state.subject + ")";
  sentence += " for " + duration_text(goes_on ? *state.busy : state.longest);
  return goes_on ? sentence : sentence + " until a moment ago";
}

}  // namespace offcpud
