// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace offcpud {

// Wraps callbacks of a thread that may outlive what they use: they work until the gate is
// destroyed, and do nothing from then on. One runs at a time, and the destructor waits for the one
// that is running, so none may call another of the same gate. Thread-safe.
class CallGate {
 public:
  CallGate() = default;
  CallGate(const CallGate&) = delete;
  CallGate& operator=(const CallGate&) = delete;
  ~CallGate() {
    const std::lock_guard lock(state_->mutex);
    state_->open = false;
  }

  // Returns an empty function if `call` is empty.
  template <class... Args>
  [[nodiscard]] std::function<void(Args...)> guard(std::function<void(Args...)> call) const {
    if (!call) return nullptr;
    return [state = state_, call = std::move(call)](Args... args) {
      const std::lock_guard lock(state->mutex);
      if (state->open) call(std::forward<Args>(args)...);
    };
  }

 private:
  struct State {
    std::mutex mutex;
    bool open = true;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace offcpud
