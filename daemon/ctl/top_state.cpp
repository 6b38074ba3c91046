// SPDX-License-Identifier: Apache-2.0
#include "ctl/top_state.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/utf8_prefix.h"
#include "cli/query_path.h"
#include "ctl/locale_signs.h"
#include "ctl/stack_query.h"
#include "ctl/terminal_text.h"
#include "ctl/top_table.h"

namespace offcpud {
namespace {

constexpr std::size_t kFixedLines = 5;  // three about the host, the titles, the bottom line

constexpr std::array<std::string_view, 6> kProcessSortsByFor = {"waiting", "runqueue", "unknown",
                                                                "idle",    "running",  "pid"};
constexpr std::array<std::string_view, 6> kThreadSortsByFor = {"waiting", "runqueue", "kept_off",
                                                               "longest", "running",  "cpu"};
constexpr std::array<std::string_view, 8> kProcessSorts = {
    "actionable", "runqueue", "blocked", "oldest", "p99", "max", "running", "pid"};
constexpr std::array<std::string_view, 8> kThreadSorts = {
    "actionable", "runqueue", "blocked", "kept_off", "longest", "oldest", "running", "cpu"};

std::span<const std::string_view> sorts_of(const TopRequest& request) {
  if (!request.by_reason) {
    return request.threads ? std::span<const std::string_view>(kThreadSortsByFor)
                           : kProcessSortsByFor;
  }
  return request.threads ? std::span<const std::string_view>(kThreadSorts) : kProcessSorts;
}

constexpr const char* kHelp[] = {
    "offcpuctl top: who waits, and why",
    "",
    "  s S        sort by the next or previous key           r  reverse",
    "  a u i      sort by waits, run queue, idle threads",
    "  Enter      stacks of the first row on the screen: where it waited in the last ten minutes",
    "  w          by reason instead of by what waits are for; b o sort by blocked, oldest block",
    "  / ESC      show only rows with a text in COMM or cgroup; show all",
    "  t p        threads instead of processes; pinned threads only",
    "  arrows, PageUp, PageDown, Home, End      scroll",
    "  q          quit",
    "",
    "Times are shares of the interval, in percent of one thread: 250 means two and a half",
    "threads on average. WAIT% is what somebody may want to do something about: waits for a",
    "lock, an answer, storage, memory; +- is its standard error. FOR and SITE are of the",
    "largest of them, NOW how many last there and the longest; cpu and why, if it waits",
    "longer for a CPU. UNKN%: nobody can tell. IDLE: threads that wait for work or a timer.",
    "PID x12: twelve that have ended. By reason, ACT% sums the run queue and all",
    "reasons but poll, sleep, child, condvar; P50, P99 and MAX are of such waits that ended;",
    "OLDEST is in progress. A * after CPU: the thread may run only there. BYSAME%, BYOTHER%",
    "and BYKERN% say who had the CPU while it waited for one.",
    "",
    "Any key goes back.",
};

}  // namespace

std::size_t TopState::page_of(std::size_t lines) {
  return lines > kFixedLines ? lines - kFixedLines : 1;
}

TopEffect TopState::press(const Key& key, std::size_t page) {
  if (std::exchange(help_, false)) return TopEffect::Redraw;
  if (stacks_) {
    stacks_.reset();
    return TopEffect::Ask;
  }
  if (typed_) return press_in_filter(key);
  const auto rows = static_cast<std::ptrdiff_t>(page);
  switch (key.kind) {
    case Key::Up:
      return scroll_by(-1);
    case Key::Down:
      return scroll_by(1);
    case Key::PageUp:
      return scroll_by(-rows);
    case Key::PageDown:
      return scroll_by(rows);
    case Key::Home:
      return scroll_by(-static_cast<std::ptrdiff_t>(scroll_));
    case Key::End:
      return answer_ ? scroll_by(static_cast<std::ptrdiff_t>(answer_->matching) - rows -
                                 static_cast<std::ptrdiff_t>(scroll_))
                     : TopEffect::None;
    case Key::Escape:
      if (request_.filter.empty()) return TopEffect::None;
      request_.filter.clear();
      return TopEffect::Ask;
    case Key::Enter:
      return choose_row();
    case Key::Text:
      return press_letter(key.text);
    default:
      return TopEffect::None;
  }
}

// Processes that have ended have no number to ask by.
TopEffect TopState::choose_row() {
  if (!answer_ || scroll_ >= answer_->rows.size()) return TopEffect::None;
  const TopRow& row = answer_->rows[scroll_];
  if (row.pid == 0 || row.ended_processes > 0) return TopEffect::None;
  stacks_ = RowStacks{.pid = row.pid,
                      .title = row.comm + " (pid " + std::to_string(row.pid) + ") of " +
                               (row.unit.empty() ? row.cgroup : row.unit)};
  return TopEffect::AskForStacks;
}

std::string TopState::path_of_stacks() const {
  QueryParameters query = {{"pid", std::to_string(stacks_ ? stacks_->pid : 0)}};
  if (!request_.wait_for.empty()) {
    query.emplace_back("for", request_.wait_for);
  } else if (request_.sort == "idle") {
    query.emplace_back("idle", "true");
  }
  const auto wanted = query_of_stacks(query);
  return offcpud::path_of_stacks(wanted ? *wanted : query);
}

TopEffect TopState::press_in_filter(const Key& key) {
  std::string& text = *typed_;
  switch (key.kind) {
    case Key::Text:
      text += key.text;
      return TopEffect::Redraw;
    case Key::Backspace:
      while (!text.empty() && continues_utf8(text.back())) text.pop_back();
      if (!text.empty()) text.pop_back();
      return TopEffect::Redraw;
    case Key::Escape:
      typed_.reset();
      return TopEffect::Redraw;
    case Key::Enter:
      request_.filter = *std::exchange(typed_, std::nullopt);
      scroll_ = 0;
      return TopEffect::Ask;
    default:
      return TopEffect::None;
  }
}

TopEffect TopState::press_letter(std::string_view letter) {
  if (letter == "q") return TopEffect::Quit;
  if (letter == "h" || letter == "?") {
    help_ = true;
    return TopEffect::Redraw;
  }
  if (letter == "/") {
    typed_ = request_.filter;
    return TopEffect::Redraw;
  }
  if (letter == "s" || letter == "S") return next_sort(letter == "S");
  if (letter == "r") {
    request_.reverse = !request_.reverse;
    return TopEffect::Ask;
  }
  if (letter == "w") {
    request_.by_reason = !request_.by_reason;
    request_.sort.clear();
    return TopEffect::Ask;
  }
  if (letter == "t" || letter == "p") {
    // "Pinned" implies threads; switching back to processes turns it off.
    request_.pinned = letter == "p" && !request_.pinned;
    request_.threads = letter == "p" || !request_.threads;
    request_.sort.clear();
    scroll_ = 0;
    return TopEffect::Ask;
  }
  if (letter == "i" && (request_.threads || request_.by_reason)) return TopEffect::None;
  const std::pair<std::string_view, std::string_view> direct[] = {
      {"a", request_.by_reason ? "actionable" : "waiting"},
      {"u", "runqueue"},
      {"i", "idle"},
      {"b", "blocked"},
      {"o", "oldest"}};
  for (const auto& [key, sort] : direct) {
    if (letter != key) continue;
    request_.sort = sort;
    return TopEffect::Ask;
  }
  return TopEffect::None;
}

TopEffect TopState::next_sort(bool backwards) {
  const auto sorts = sorts_of(request_);
  const auto found = std::find(sorts.begin(), sorts.end(), request_.sort);
  // A sort key from the command line that is not in the list counts as the first.
  const auto at = found != sorts.end() ? static_cast<std::size_t>(found - sorts.begin()) : 0;
  request_.sort = sorts[(at + (backwards ? sorts.size() - 1 : 1)) % sorts.size()];
  return TopEffect::Ask;
}

TopEffect TopState::scroll_by(std::ptrdiff_t rows) {
  const std::size_t end = answer_ && answer_->matching > 0 ? answer_->matching - 1 : 0;
  const auto to = std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(scroll_) + rows, 0,
                                             static_cast<std::ptrdiff_t>(end));
  if (static_cast<std::size_t>(to) == scroll_) return TopEffect::None;
  scroll_ = static_cast<std::size_t>(to);
  return TopEffect::Ask;
}

void TopState::take(TopAnswer answer) {
  error_.clear();
  if (scroll_ >= answer.matching) scroll_ = answer.matching > 0 ? answer.matching - 1 : 0;
  answer_ = std::move(answer);
}

void TopState::take(StackLines stacks) {
  if (stacks_) stacks_->lines = std::move(stacks);
}

void TopState::take(const Error& error) {
  (stacks_ ? stacks_->error : error_) = error.message();
}

TopRequest TopState::request(std::size_t page) const {
  TopRequest request = request_;
  const std::size_t seen = scroll_ + 2 * page;
  request.limit = request_.limit ? std::min(*request_.limit, seen) : seen;
  return request;
}

std::string TopState::bottom_line(const std::string& note) const {
  if (typed_) return "Show rows with this in COMM or cgroup: " + terminal_text(*typed_) + "_";
  std::string line = shown_rows(request_);
  const char* const usual = request_.by_reason ? "actionable" : "waiting";
  line += " by " + (request_.sort.empty() ? usual : request_.sort);
  if (request_.reverse) line += ", reversed";
  if (scroll_ > 0) line += ", from row " + std::to_string(scroll_ + 1);
  return terminal_text(line) + "   (Enter stacks, h help, q quit" + (note.empty() ? "" : "; ") +
         note + ")";
}

std::vector<TopState::Line> TopState::stacks_screen(std::size_t lines, std::size_t columns) const {
  std::vector<Line> screen;
  const auto add = [&](Line::Style style, const std::string& text) {
    const std::string shown = for_locale(terminal_text(text));
    const bool fits = terminal_width(shown) <= columns;
    if (screen.size() < lines) {
      screen.push_back({style, fits ? shown : fitted(shown, columns, Align::Left)});
    }
  };
  const RowStacks& row = *stacks_;
  add(Line::Title, "Where " + row.title + " waited in the last 10 minutes, the longest first");
  if (!row.error.empty()) {
    add(Line::Alert, row.error);
  } else if (!row.lines) {
    add(Line::Plain, "asking the daemon");
  } else if (row.lines->empty()) {
    add(Line::Plain, "No such wait was sampled; offcpuctl snapshot 10 --pid " +
                         std::to_string(row.pid) + " samples its stacks now.");
  } else {
    for (const std::string& line : *row.lines) {
      if (screen.size() + 1 < lines) add(Line::Plain, line);
    }
  }
  while (screen.size() + 1 < lines) screen.push_back({});
  add(Line::Title, "Any key goes back; offcpuctl flame --pid " + std::to_string(row.pid) +
                       " -o waits.html draws them.");
  return screen;
}

std::vector<TopState::Line> TopState::screen(const std::string& server, std::size_t lines,
                                             std::size_t columns) const {
  if (stacks_ && !help_) return stacks_screen(lines, columns);
  std::vector<Line> screen;
  const auto add = [&](Line::Style style, const std::string& text) {
    const bool fits = terminal_width(text) <= columns;
    screen.push_back({style, fits ? text : fitted(text, columns, Align::Left)});
  };
  if (help_) {
    for (const char* line : kHelp) add(Line::Plain, line);
    screen.resize(std::min(screen.size(), lines));
    return screen;
  }
  std::string note;
  if (answer_) {
    const TopTable table = top_table(*answer_, server, columns, request_);
    note = table.note;
    for (const std::string& line : table.summary) add(Line::Plain, line);
    add(Line::Title, table.titles);
    const std::size_t end = std::min(table.rows.size(), scroll_ + page_of(lines));
    for (std::size_t i = scroll_; i < end; ++i) add(Line::Plain, table.rows[i]);
  } else {
    add(Line::Plain, terminal_text("offcpud at " + server + ": waiting for an answer"));
  }
  if (screen.size() + 1 > lines) screen.resize(lines > 0 ? lines - 1 : 0);
  while (screen.size() + 1 < lines) screen.push_back({});
  if (error_.empty()) {
    add(Line::Title, bottom_line(note));
  } else {
    add(Line::Alert, "Trying again: " + terminal_text(error_));
  }
  return screen;
}

}  // namespace offcpud
