// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/top_request.h"
#include "ctl/stack_lines.h"
#include "ctl/top_answer.h"

namespace offcpud {

// A key of the terminal; Text carries the UTF-8 of a character.
struct Key {
  enum Kind { Text, Up, Down, PageUp, PageDown, Home, End, Enter, Backspace, Escape } kind = Text;
  std::string text = {};
};

enum class TopEffect {
  None,
  Redraw,
  Ask,           // redraw, and send a new request, as it has changed
  AskForStacks,  // redraw, and ask for path_of_stacks()
  Quit,
};

// What the terminal program shows, and how keys change it. No I/O.
class TopState {
 public:
  explicit TopState(TopRequest request) : request_(std::move(request)) {}

  // `page`: rows on the screen.
  TopEffect press(const Key& key, std::size_t page);

  void take(TopAnswer answer);
  void take(StackLines stacks);
  void take(const Error& error);

  // Whether the screen shows the stacks of a row in place of the table; then nothing else is asked
  // for.
  [[nodiscard]] bool shows_stacks() const { return stacks_.has_value(); }
  // The path that asks for the stacks of the chosen row: those of the last minutes, without idle
  // ones.
  [[nodiscard]] std::string path_of_stacks() const;

  // The next request: no more rows than the user may soon see.
  [[nodiscard]] TopRequest request(std::size_t page) const;

  // The screen: at most `lines` lines of at most `columns` columns.
  struct Line {
    enum Style { Plain, Title, Alert } style = Plain;
    std::string text;
  };
  [[nodiscard]] std::vector<Line> screen(const std::string& server, std::size_t lines,
                                         std::size_t columns) const;

  // The number of table rows on a screen with this many lines.
  [[nodiscard]] static std::size_t page_of(std::size_t lines);

 private:
  TopEffect press_in_filter(const Key& key);
  TopEffect press_letter(std::string_view letter);
  TopEffect scroll_by(std::ptrdiff_t rows);
  TopEffect next_sort(bool backwards);
  TopEffect choose_row();
  [[nodiscard]] std::vector<Line> stacks_screen(std::size_t lines, std::size_t columns) const;
  [[nodiscard]] std::string bottom_line(const std::string& note) const;

  TopRequest request_;
  std::optional<TopAnswer> answer_;  // the last one
  std::string error_;                // of the last request; empty: it succeeded
  std::size_t scroll_ = 0;
  bool help_ = false;
  struct RowStacks {
    std::uint64_t pid = 0;
    std::string title;
    std::optional<StackLines> lines = std::nullopt;  // nullopt: not there yet
    std::string error = {};
  };
  std::optional<RowStacks> stacks_;   // of the first row on the screen, once the user chose it
  std::optional<std::string> typed_;  // while the user types a filter
};

}  // namespace offcpud
