// SPDX-License-Identifier: Apache-2.0
#include "symbols/perf_map.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <map>

namespace offcpud {
namespace {

constexpr std::size_t kMaxName = 1024;

struct Range {
  std::uint64_t end;
  std::string_view name;
};

// By start, disjoint.
using Ranges = std::map<std::uint64_t, Range>;

// Takes `start`..`end` away from what is there, and gives it to `name`.
void overwrite(Ranges& ranges, std::uint64_t start, std::uint64_t end, std::string_view name) {
  auto it = ranges.lower_bound(start);
  if (it != ranges.begin()) {
    const auto before = std::prev(it);
    const Range covered = before->second;
    if (covered.end > start) before->second.end = start;
    if (covered.end > end) it = ranges.emplace_hint(it, end, covered);
  }
  while (it != ranges.end() && it->first < end) {
    const Range covered = it->second;
    it = ranges.erase(it);
    if (covered.end > end) it = ranges.emplace_hint(it, end, covered);
  }
  ranges.insert_or_assign(start, Range{end, name});
}

std::optional<std::uint64_t> take_number(std::string_view& line) {
  if (line.starts_with("0x")) line.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
  const auto length = static_cast<std::size_t>(end - line.data());
  if (error != std::errc() || length == line.size() || line[length] != ' ') return std::nullopt;
  line.remove_prefix(length + 1);
  return value;
}

}  // namespace

PerfMap::PerfMap(std::string_view text) {
  Ranges ranges;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    const auto start = take_number(line);
    const auto size = start ? take_number(line) : std::nullopt;
    if (!size || *size == 0 || line.empty()) continue;
    if (*size > std::numeric_limits<std::uint64_t>::max() - *start) continue;
    overwrite(ranges, *start, *start + *size, line.substr(0, kMaxName));
  }
  entries_.reserve(ranges.size());
  for (const auto& [start, range] : ranges) {
    entries_.push_back({start, range.end, static_cast<std::uint32_t>(names_.size())});
    names_.append(range.name.substr(0, range.name.find('\0'))).append(1, '\0');
  }
  names_.shrink_to_fit();
}

std::optional<std::string_view> PerfMap::find(std::uint64_t address) const {
  const auto after =
      std::upper_bound(entries_.begin(), entries_.end(), address,
                       [](std::uint64_t value, const Entry& entry) { return value < entry.start; });
  if (after == entries_.begin() || address >= std::prev(after)->end) return std::nullopt;
  return names_.c_str() + std::prev(after)->name;
}

std::size_t PerfMap::bytes() const {
  return sizeof(*this) + entries_.capacity() * sizeof(Entry) + names_.capacity();
}

}  // namespace offcpud
