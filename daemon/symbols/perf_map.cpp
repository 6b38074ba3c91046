// SPDX-License-Identifier: Apache-2.0
#include "symbols/perf_map.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <tuple>

namespace offcpud {

struct PerfMap::Line {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t name = 0;  // offset in the text, so it also says which of two lines is the later
  std::uint32_t kept_name = 0;
  std::uint16_t length = 0;
  bool is_used = false;
};

namespace {

using Line = PerfMap::Line;

constexpr std::size_t kMaxName = 1024;

std::optional<std::uint64_t> take_number(std::string_view& line) {
  if (line.starts_with("0x")) line.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
  const auto length = static_cast<std::size_t>(end - line.data());
  if (error != std::errc() || length == line.size() || line[length] != ' ') return std::nullopt;
  line.remove_prefix(length + 1);
  return value;
}

// Finds the line with this name; `lines` ascend by name.
Line& line_at(std::vector<Line>& lines, std::uint32_t name) {
  return *std::ranges::lower_bound(lines, name, {}, &Line::name);
}

// The last lines, from the end of the text backwards.
std::vector<Line> last_lines(std::string_view text, std::size_t most, bool& is_truncated) {
  std::vector<Line> lines;
  std::string_view left = text;
  while (!left.empty()) {
    if (left.ends_with('\n')) left.remove_suffix(1);
    const std::size_t before = left.rfind('\n');
    std::string_view line = left.substr(before + 1);  // npos + 1 is 0
    left = left.substr(0, before + 1);
    const auto start = take_number(line);
    const auto size = start ? take_number(line) : std::nullopt;
    if (!size || *size == 0 || line.empty()) continue;
    if (*size > std::numeric_limits<std::uint64_t>::max() - *start) continue;
    if (lines.size() == most) {
      is_truncated = true;
      break;
    }
    line = line.substr(0, kMaxName);
    line = line.substr(0, line.find('\0'));
    lines.push_back({*start, *start + *size, static_cast<std::uint32_t>(line.data() - text.data()),
                     0, static_cast<std::uint16_t>(line.size()), false});
  }
  return lines;
}

// Goes through ranges by ascending start and makes pieces that do not overlap: at each address the
// latest line counts.
class Sweep {
 public:
  explicit Sweep(const std::vector<Line>& lines) : lines_(lines) {}

  template <class Use>
  void run(Use use) {
    for (std::uint32_t i = 0; i < lines_.size(); ++i) {
      advance(lines_[i].start, use);
      open_.push_back(i);
      std::ranges::push_heap(open_, {}, [this](std::uint32_t line) { return lines_[line].name; });
    }
    advance(std::numeric_limits<std::uint64_t>::max(), use);
  }

 private:
  template <class Use>
  void advance(std::uint64_t to, Use& use) {
    while (!open_.empty() && at_ < to) {
      const Line& latest = lines_[open_.front()];
      if (latest.end <= at_) {
        std::ranges::pop_heap(open_, {}, [this](std::uint32_t line) { return lines_[line].name; });
        open_.pop_back();
        continue;
      }
      const std::uint64_t end = std::min(latest.end, to);
      use(at_, end, latest);
      at_ = end;
    }
    at_ = to;
  }

  const std::vector<Line>& lines_;
  std::uint64_t at_ = 0;
  std::vector<std::uint32_t> open_;  // a heap, the latest line first
};

}  // namespace

PerfMap::PerfMap(std::string_view text) {
  std::vector<Line> lines = last_lines(text, kMaxLines, is_truncated_);
  std::ranges::sort(lines, [](const Line& a, const Line& b) {
    return std::tie(a.start, a.name) < std::tie(b.start, b.name);
  });
  Sweep(lines).run([this](std::uint64_t start, std::uint64_t end, const Line& line) {
    if (!entries_.empty() && entries_.back().end == start && entries_.back().name == line.name) {
      entries_.back().end = end;
    } else {
      entries_.push_back({start, end, line.name});
    }
  });
  entries_.shrink_to_fit();

  std::ranges::sort(lines, {}, &Line::name);
  for (const Entry& entry : entries_) line_at(lines, entry.name).is_used = true;
  take_names(text, lines);
  for (Entry& entry : entries_) entry.name = line_at(lines, entry.name).kept_name;
}

// Copies the names of lines that are used, each once.
void PerfMap::take_names(std::string_view text, std::vector<Line>& lines) {
  std::size_t bytes = 0;
  for (const Line& line : lines) bytes += line.is_used ? line.length + std::size_t{1} : 0;
  if (bytes == 0) return;
  char* place = names_.grow(bytes - 1);
  std::uint32_t offset = 0;
  for (Line& line : lines) {
    if (!line.is_used) continue;
    place = std::ranges::copy(text.substr(line.name, line.length), place).out;
    *place++ = '\0';
    line.kept_name = offset;
    offset += line.length + 1U;
  }
}

std::optional<std::string_view> PerfMap::find(std::uint64_t address) const {
  const auto after =
      std::upper_bound(entries_.begin(), entries_.end(), address,
                       [](std::uint64_t value, const Entry& entry) { return value < entry.start; });
  if (after == entries_.begin() || address >= std::prev(after)->end) return std::nullopt;
  return names_.at(std::prev(after)->name);
}

std::size_t PerfMap::bytes() const {
  return sizeof(*this) + entries_.capacity() * sizeof(Entry) + names_.size();
}

}  // namespace offcpud
