// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "ctl/top_state.h"

namespace offcpud {

// The terminal at standard input and output as a screen. Only this class uses ncurses. The
// destructor restores the terminal. One object at a time, used by one thread.
class TerminalScreen {
 public:
  static Result<std::unique_ptr<TerminalScreen>> open();
  ~TerminalScreen();
  TerminalScreen(const TerminalScreen&) = delete;
  TerminalScreen& operator=(const TerminalScreen&) = delete;

  [[nodiscard]] std::size_t lines() const;
  [[nodiscard]] std::size_t columns() const;

  // Call it when the size of the terminal has changed (SIGWINCH).
  void resize();
  void show(const std::vector<TopState::Line>& lines);

  // The next key that was pressed; nullopt: none yet.
  std::optional<Key> key();

 private:
  struct State;
  explicit TerminalScreen(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace offcpud
