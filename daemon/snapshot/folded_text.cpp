// SPDX-License-Identifier: Apache-2.0
#include "snapshot/folded_text.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "snapshot/folded_name.h"

namespace offcpud {
namespace {

constexpr std::uint64_t kMicrosecond = 1'000;
constexpr std::size_t kMostNumberBytes = std::size_t{2} * 21;  // two columns, each with a space

}  // namespace

std::size_t FoldedText::HashIds::operator()(const Ids& ids) const {
  std::size_t hash = ids.size();
  for (const std::uint32_t id : ids) {
    hash ^= id + 0x9e3779b97f4a7c15U + (hash << 6U) + (hash >> 2U);
  }
  return hash;
}

std::uint64_t FoldedText::Carry::microseconds(std::uint64_t more_ns) {
  ns += more_ns % kMicrosecond;
  const std::uint64_t whole = more_ns / kMicrosecond + ns / kMicrosecond;
  ns %= kMicrosecond;
  return whole;
}

FoldedText::FoldedText(const Snapshot& snapshot, Options options)
    : options_(options), two_columns_(false) {
  build(snapshot, {});
}

FoldedText::FoldedText(const StackDifference& difference, Options options)
    : options_(options), two_columns_(true) {
  build(difference.after, difference.before);
}

// The separators bypass folded_name(), because they are not functions.
void FoldedText::build(const Snapshot& snapshot, std::span<const StackAmount> before) {
  names_ = {"-", "--"};
  dash_ = 0;
  waker_dash_ = 1;
  no_waker_ = name("[no waker]");
  left_out_ = name("[frames left out]");
  frame_names_.assign(snapshot.frames.size(), 0);

  std::unordered_map<Ids, std::size_t, HashIds> places;
  Ids frames;
  for (std::size_t i = 0; i < snapshot.entries.size(); ++i) {
    const StackEntry& entry = snapshot.entries[i];
    frames.assign(1, name(folded_name(entry.comm)));
    append_stack(snapshot, entry, frames);
    if (options_.wakers) append_waker(snapshot, entry, frames);
    shorten(frames);
    const std::size_t place = places.try_emplace(frames, lines_.size()).first->second;
    if (place == lines_.size()) lines_.push_back({.frames = frames});
    lines_[place].ns += entry.ns;
    if (i < before.size()) lines_[place].before_ns += before[i].ns;
  }
  sort_lines();
}

std::uint32_t FoldedText::name(std::string_view text) {
  const auto next = static_cast<std::uint32_t>(names_.size());
  const auto [place, is_new] = ids_.try_emplace(std::string(text), next);
  if (is_new) names_.emplace_back(text);
  return place->second;
}

std::uint32_t FoldedText::frame_name(const Snapshot& snapshot, std::uint32_t frame) {
  std::uint32_t& known = frame_names_[frame];
  if (known == 0) {
    const StackFrame& described = snapshot.frames[frame];
    std::string text = folded_name(described.function);
    if (described.kernel && options_.annotate_kernel && !options_.wakers) text += "_[k]";
    known = name(text) + 1;
  }
  return known - 1;
}

void FoldedText::append_stack(const Snapshot& snapshot, const StackEntry& entry, Ids& line) {
  for (const std::uint32_t frame : entry.user) line.push_back(frame_name(snapshot, frame));
  if (!entry.user.empty() && !entry.kernel.empty()) line.push_back(dash_);
  for (const std::uint32_t frame : entry.kernel) line.push_back(frame_name(snapshot, frame));
}

void FoldedText::append_waker(const Snapshot& snapshot, const StackEntry& entry, Ids& line) {
  line.push_back(waker_dash_);
  const auto append_upside_down = [&](const std::vector<std::uint32_t>& frames) {
    for (std::size_t i = frames.size(); i-- > 0;) line.push_back(frame_name(snapshot, frames[i]));
  };
  append_upside_down(entry.waker_kernel);
  if (!entry.waker_user.empty() && !entry.waker_kernel.empty()) line.push_back(dash_);
  append_upside_down(entry.waker_user);
  line.push_back(entry.waker_comm.empty() ? no_waker_ : name(folded_name(entry.waker_comm)));
}

// Leaves out outermost frames, which say least, if the line would be too long.
void FoldedText::shorten(Ids& line) {
  std::size_t length = kMostNumberBytes;
  for (const std::uint32_t id : line) length += names_[id].size() + 1;
  if (length <= kMostLineBytes) return;

  length += names_[left_out_].size() + 1;
  Ids kept = {line.front(), left_out_};
  for (std::size_t i = 1; i < line.size(); ++i) {
    const bool last = i + 1 == line.size();
    if (length <= kMostLineBytes || line[i] == waker_dash_ || last) {
      kept.push_back(line[i]);
    } else {
      length -= names_[line[i]].size() + 1;
    }
  }
  line = std::move(kept);
}

void FoldedText::sort_lines() {
  const auto by_name = [this](std::uint32_t a, std::uint32_t b) { return names_[a] < names_[b]; };
  std::sort(lines_.begin(), lines_.end(), [&](const Line& a, const Line& b) {
    return std::lexicographical_compare(a.frames.begin(), a.frames.end(), b.frames.begin(),
                                        b.frames.end(), by_name);
  });
}

void FoldedText::append_text(const Line& line) {
  const std::uint64_t microseconds = carry_.microseconds(line.ns);
  const std::uint64_t before = before_carry_.microseconds(line.before_ns);
  if (microseconds == 0 && before == 0) return;
  for (std::size_t i = 0; i < line.frames.size(); ++i) {
    if (i > 0) pending_ += ';';
    pending_ += names_[line.frames[i]];
  }
  if (two_columns_) pending_.append(" ").append(std::to_string(before));
  pending_.append(" ").append(std::to_string(microseconds)).append("\n");
}

std::size_t FoldedText::read(std::span<char> buffer) {
  std::size_t written = 0;
  while (written < buffer.size()) {
    if (pending_begin_ == pending_.size()) {
      pending_.clear();
      pending_begin_ = 0;
      if (next_ == lines_.size()) break;
      append_text(lines_[next_++]);
      continue;
    }
    const std::size_t n = std::min(buffer.size() - written, pending_.size() - pending_begin_);
    std::memcpy(buffer.data() + written, pending_.data() + pending_begin_, n);
    written += n;
    pending_begin_ += n;
  }
  return written;
}

}  // namespace offcpud
