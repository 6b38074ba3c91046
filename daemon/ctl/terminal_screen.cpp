// SPDX-License-Identifier: Apache-2.0
#include "ctl/terminal_screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <utility>

// Included last: with NCURSES_NOMACROS its everyday names are functions, not macros.
#define NCURSES_NOMACROS 1
#include <curses.h>

namespace offcpud {
namespace {

constexpr int kEscapeDelay = 25;  // ms after which a lone ESC is a key, not the begin of one

attr_t attribute_of(TopState::Line::Style style) {
  switch (style) {
    case TopState::Line::Title:
      return A_REVERSE;
    case TopState::Line::Alert:
      return A_BOLD | A_REVERSE;
    case TopState::Line::Plain:
      break;
  }
  return A_NORMAL;
}

std::optional<Key> function_key(wint_t code) {
  switch (code) {
    case KEY_UP:
      return Key{Key::Up};
    case KEY_DOWN:
      return Key{Key::Down};
    case KEY_PPAGE:
      return Key{Key::PageUp};
    case KEY_NPAGE:
      return Key{Key::PageDown};
    case KEY_HOME:
      return Key{Key::Home};
    case KEY_END:
      return Key{Key::End};
    case KEY_ENTER:
      return Key{Key::Enter};
    case KEY_BACKSPACE:
      return Key{Key::Backspace};
    default:
      return std::nullopt;
  }
}

std::optional<Key> character_key(wint_t code) {
  if (code == L'\r' || code == L'\n') return Key{Key::Enter};
  if (code == 0x7f || code == 0x08) return Key{Key::Backspace};
  if (code == 0x1b) return Key{Key::Escape};
  if (code < 0x20) return std::nullopt;
  std::array<char, MB_LEN_MAX> bytes{};
  std::mbstate_t state{};
  const std::size_t length = std::wcrtomb(bytes.data(), static_cast<wchar_t>(code), &state);
  if (length > bytes.size()) return std::nullopt;
  return Key{Key::Text, std::string(bytes.data(), length)};
}

}  // namespace

struct TerminalScreen::State {
  SCREEN* screen;
};

Result<std::unique_ptr<TerminalScreen>> TerminalScreen::open() {
  const char* const type = std::getenv("TERM");
  SCREEN* const screen = ::newterm(nullptr, stdout, stdin);
  if (screen == nullptr) {
    return Error("the terminal type '" + std::string(type != nullptr ? type : "") +
                     "' (TERM) is not known here; use --once",
                 ErrorKind::Unsupported);
  }
  return std::unique_ptr<TerminalScreen>(
      new TerminalScreen(std::make_unique<State>(State{screen})));
}

TerminalScreen::TerminalScreen(std::unique_ptr<State> state) : state_(std::move(state)) {
  ::set_escdelay(kEscapeDelay);
  ::cbreak();
  ::noecho();
  ::nonl();
  ::curs_set(0);
  ::keypad(stdscr, true);
  ::nodelay(stdscr, true);
}

TerminalScreen::~TerminalScreen() {
  ::endwin();
  ::delscreen(state_->screen);
}

std::size_t TerminalScreen::lines() const {
  return static_cast<std::size_t>(::getmaxy(stdscr));
}

std::size_t TerminalScreen::columns() const {
  return static_cast<std::size_t>(::getmaxx(stdscr));
}

void TerminalScreen::resize() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return;
  ::resizeterm(size.ws_row, size.ws_col);
}

void TerminalScreen::show(const std::vector<TopState::Line>& lines) {
  ::werase(stdscr);
  int y = 0;
  for (const TopState::Line& line : lines) {
    const attr_t attribute = attribute_of(line.style);
    ::wattrset(stdscr, static_cast<int>(attribute));
    ::wmove(stdscr, y, 0);
    ::waddnstr(stdscr, line.text.data(), static_cast<int>(line.text.size()));
    if (attribute != A_NORMAL) ::wchgat(stdscr, -1, attribute, 0, nullptr);  // up to the edge
    ++y;
  }
  ::wattrset(stdscr, A_NORMAL);
  ::wrefresh(stdscr);
}

std::optional<Key> TerminalScreen::key() {
  wint_t code = 0;
  for (int kind = ::wget_wch(stdscr, &code); kind != ERR; kind = ::wget_wch(stdscr, &code)) {
    auto key = kind == KEY_CODE_YES ? function_key(code) : character_key(code);
    if (key) return key;  // others have no meaning here
  }
  return std::nullopt;
}

}  // namespace offcpud
