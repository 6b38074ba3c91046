// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "ctl/top_state.h"

namespace offcpud {

// The terminal at standard input and output as a screen; the only user of ncurses. The destructor
// gives it back as it was. One object at a time, used by one thread.
class TerminalScreen {
 public:
  static Result<std::unique_ptr<TerminalScreen>> open();
  ~TerminalScreen();
  TerminalScreen(const TerminalScreen&) = delete;
  TerminalScreen& operator=(const TerminalScreen&) = delete;

  [[nodiscard]] std::size_t lines() const;
  [[nodiscard]] std::size_t columns() const;

  // To be called when the terminal has another size (SIGWINCH).
  void resize();
  void show(const std::vector<TopState::Line>& lines);

  // The next key that was pressed; nullopt: none so far.
  std::optional<Key> key();

 private:
  struct State;
  explicit TerminalScreen(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace offcpud
