// SPDX-License-Identifier: Apache-2.0
#include "symbols/function_index.h"

#include <algorithm>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

namespace offcpud {
namespace {

constexpr std::uint64_t kNoEnd = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t kNoName = std::numeric_limits<std::uint32_t>::max();

using Function = FunctionList::Function;

std::uint32_t name_of(const Function& function) {
  return function.name & ~FunctionList::kPreferred;
}

// A part of a function, without what other functions overlap.
struct Piece {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t owner = 0;  // start of its function
  std::uint32_t name = 0;   // offset in the list's names; kNoName: known by its FDE only
};

bool starts_inside(std::span<const AddressRange> sorted, std::uint64_t address,
                   const AddressRange** range) {
  const auto after = std::upper_bound(
      sorted.begin(), sorted.end(), address,
      [](std::uint64_t value, const AddressRange& candidate) { return value < candidate.start; });
  if (after == sorted.begin()) return false;
  *range = &*std::prev(after);
  return address < (*range)->end;
}

std::vector<AddressRange> sorted_ranges(std::vector<AddressRange> ranges) {
  std::erase_if(ranges, [](const AddressRange& range) { return range.start >= range.end; });
  std::sort(ranges.begin(), ranges.end(), [](const AddressRange& a, const AddressRange& b) {
    return std::tie(a.start, b.end) < std::tie(b.start, a.end);
  });
  return ranges;
}

std::size_t underscores(std::string_view name) {
  constexpr std::size_t kMost = 64;  // more make no difference
  return std::min(name.substr(0, kMost).find_first_not_of('_'), std::min(kMost, name.size()));
}

// Whether `a` is the more useful name of the two.
bool is_better(std::string_view a, std::string_view b) {
  const std::size_t a_underscores = underscores(a);
  const std::size_t b_underscores = underscores(b);
  if (a_underscores != b_underscores) return a_underscores < b_underscores;
  return std::make_tuple(a.size(), a) < std::make_tuple(b.size(), b);
}

// Keeps the functions that start within code, one per address: the largest, with its best name.
// Looks at every name only once, because there may be many long ones at one address.
void keep_distinct(FunctionList& list, std::span<const AddressRange> code) {
  std::vector<Function>& functions = list.functions();
  const AddressRange* range = nullptr;
  std::erase_if(functions, [&](const Function& function) {
    return !starts_inside(code, function.start, &range);
  });
  std::sort(functions.begin(), functions.end(), [](const Function& a, const Function& b) {
    // Puts preferred ones first, and names in the order of the file.
    return std::tie(a.start, b.size, b.name) < std::tie(b.start, a.size, a.name);
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < functions.size();) {
    const Function& first = functions[i];
    Function best = first;
    std::string_view best_name = list.name(best);
    for (++i; i < functions.size() && functions[i].start == best.start; ++i) {
      const Function& other = functions[i];
      const bool competes =
          other.size == best.size && other.name != best.name &&
          (other.name & FunctionList::kPreferred) == (best.name & FunctionList::kPreferred);
      if (!competes) continue;
      const std::string_view name = list.name(other);
      if (!is_better(name, best_name)) continue;
      best = other;
      best_name = name;
    }
    functions[kept++] = best;
  }
  functions.resize(kept);
}

// The latest end of a symbol of unknown size.
std::uint64_t end_of_unsized(std::uint64_t start, std::uint64_t next,
                             std::span<const AddressRange> frames,
                             std::span<const AddressRange> code) {
  std::uint64_t end = next;
  const AddressRange* range = nullptr;
  if (starts_inside(code, start, &range)) end = std::min(end, range->end);
  if (starts_inside(frames, start, &range)) return std::min(end, range->end);
  const auto after = std::upper_bound(
      frames.begin(), frames.end(), start,
      [](std::uint64_t value, const AddressRange& frame) { return value < frame.start; });
  return after == frames.end() ? end : std::min(end, after->start);
}

// Turns ranges sorted by start into disjoint pieces: each address belongs to the range that starts
// last. Makes one piece at a time, because all together would need several times the memory of the
// ranges. `Ranges` has size() and at(); at() returns an empty range for one to be skipped.
template <class Ranges>
class Flattener {
 public:
  explicit Flattener(Ranges ranges) : ranges_(ranges) {}

  std::optional<Piece> next() {
    for (;;) {
      std::optional<Piece> range = begun();
      if (auto piece = piece_before(range ? range->start : kNoEnd)) return piece;
      if (!range) return std::nullopt;
      at_ = range->start;
      open_.push_back(static_cast<std::uint32_t>(next_++));
    }
  }

 private:
  // The range that begins next.
  std::optional<Piece> begun() {
    for (; next_ < ranges_.size(); ++next_) {
      if (Piece range = ranges_.at(next_); range.start < range.end) return range;
    }
    return std::nullopt;
  }

  std::optional<Piece> piece_before(std::uint64_t to) {
    while (!open_.empty() && at_ < to) {
      const Piece top = ranges_.at(open_.back());
      if (top.end <= at_) {
        open_.pop_back();
        continue;
      }
      const Piece piece{at_, std::min(top.end, to), top.owner, top.name};
      at_ = piece.end;
      return piece;
    }
    return std::nullopt;
  }

  Ranges ranges_;
  std::size_t next_ = 0;
  std::uint64_t at_ = 0;
  std::vector<std::uint32_t> open_;  // by ascending starts
};

// Pieces of `upper`, and pieces of `lower` where `upper` has gaps. Both are ascending and disjoint,
// and so is the result.
template <class Upper, class Lower>
class GapFiller {
 public:
  GapFiller(Upper upper, Lower lower)
      : uppers_(std::move(upper)),
        lowers_(std::move(lower)),
        upper_(uppers_.next()),
        lower_(lowers_.next()) {}

  std::optional<Piece> next() {
    while (lower_) {
      if (!upper_ || upper_->start >= lower_->end) return std::exchange(lower_, lowers_.next());
      if (lower_->start < upper_->start) {
        Piece before = *lower_;
        before.end = lower_->start = upper_->start;
        return before;
      }
      if (upper_->end <= lower_->start) break;
      lower_->start = upper_->end;
      if (lower_->start < lower_->end) break;
      lower_ = lowers_.next();  // the upper one may cover this one too
    }
    return std::exchange(upper_, uppers_.next());
  }

 private:
  Upper uppers_;
  Lower lowers_;
  std::optional<Piece> upper_, lower_;
};

// The ranges of an object.
struct Layout {
  std::span<const Function> functions;  // one per address
  std::span<const AddressRange> frames;
  std::span<const AddressRange> code;
};

struct SizedFunctions {
  const Layout* layout;
  [[nodiscard]] std::size_t size() const { return layout->functions.size(); }
  [[nodiscard]] Piece at(std::size_t i) const {
    const Function& function = layout->functions[i];
    if (function.size == 0) return {};
    const AddressRange* section = nullptr;
    (void)starts_inside(layout->code, function.start, &section);
    const std::uint64_t size =
        std::min<std::uint64_t>(function.size, section->end - function.start);
    return {function.start, function.start + size, function.start, name_of(function)};
  }
};

struct UnsizedFunctions {
  const Layout* layout;
  [[nodiscard]] std::size_t size() const { return layout->functions.size(); }
  [[nodiscard]] Piece at(std::size_t i) const {
    const Function& function = layout->functions[i];
    if (function.size > 0) return {};
    const std::uint64_t next = i + 1 < size() ? layout->functions[i + 1].start : kNoEnd;
    return {function.start, end_of_unsized(function.start, next, layout->frames, layout->code),
            function.start, name_of(function)};
  }
};

struct Frames {
  const Layout* layout;
  [[nodiscard]] std::size_t size() const { return layout->frames.size(); }
  [[nodiscard]] Piece at(std::size_t i) const {
    const AddressRange& frame = layout->frames[i];
    return {frame.start, frame.end, frame.start, kNoName};
  }
};

auto all_pieces(const Layout& layout) {
  return GapFiller(
      GapFiller(Flattener(SizedFunctions{&layout}), Flattener(UnsizedFunctions{&layout})),
      Flattener(Frames{&layout}));
}

}  // namespace

FunctionIndex::FunctionIndex(FunctionList functions, std::vector<AddressRange> frames,
                             std::vector<AddressRange> code) {
  code = sorted_ranges(std::move(code));
  frames = sorted_ranges(std::move(frames));
  const AddressRange* section = nullptr;
  std::erase_if(frames, [&](const AddressRange& frame) {
    return !starts_inside(code, frame.start, &section);
  });
  keep_distinct(functions, code);
  const Layout layout{functions.functions(), frames, code};
  std::size_t count = 0;
  for (auto pieces = all_pieces(layout); pieces.next();) ++count;
  entries_.reserve(count);
  take(all_pieces(layout));

  names_ = std::move(functions.names());
  functions = FunctionList();
  std::vector<AddressRange>().swap(frames);
  keep_used_names();
}

template <class Pieces>
void FunctionIndex::take(Pieces pieces) {
  while (const auto piece = pieces.next()) {
    if (entries_.empty()) base_ = piece->start;
    // Code spans less than 4 GiB, except in the large code model; what is beyond has no names.
    constexpr std::uint64_t kMaxDistance = std::numeric_limits<std::uint32_t>::max();
    if (piece->start - base_ >= kMaxDistance) break;
    const std::uint64_t end = std::min(piece->end - base_, kMaxDistance);
    Entry entry{static_cast<std::uint32_t>(piece->start - base_),
                static_cast<std::uint32_t>(end - (piece->start - base_)), piece->name};
    if (piece->name == kNoName) {
      if (piece->start - piece->owner >= kFrame) continue;
      entry.name = kFrame | static_cast<std::uint32_t>(piece->start - piece->owner);
    }
    entries_.push_back(entry);
  }
}

void FunctionIndex::keep_used_names() {
  std::vector<std::uint32_t> used;
  for (const Entry& entry : entries_) {
    if ((entry.name & kFrame) == 0 && (used.empty() || used.back() != entry.name)) {
      used.push_back(entry.name);
    }
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  const std::vector<std::uint32_t> moved = names_.keep_only(used);
  for (Entry& entry : entries_) {
    if ((entry.name & kFrame) != 0) continue;
    const auto place = std::lower_bound(used.begin(), used.end(), entry.name) - used.begin();
    entry.name = moved[static_cast<std::size_t>(place)];
  }
}

std::optional<FunctionIndex::Found> FunctionIndex::find(std::uint64_t address) const {
  if (address < base_ || address - base_ > std::numeric_limits<std::uint32_t>::max()) {
    return std::nullopt;
  }
  const auto relative = static_cast<std::uint32_t>(address - base_);
  const auto after =
      std::upper_bound(entries_.begin(), entries_.end(), relative,
                       [](std::uint32_t value, const Entry& entry) { return value < entry.start; });
  if (after == entries_.begin()) return std::nullopt;
  const Entry& entry = *std::prev(after);
  if (relative - entry.start >= entry.size) return std::nullopt;
  if ((entry.name & kFrame) != 0) {
    return Found{.name = {}, .start = base_ + entry.start - (entry.name & ~kFrame)};
  }
  return Found{.name = names_.at(entry.name)};
}

std::size_t FunctionIndex::bytes() const {
  return sizeof(*this) + entries_.capacity() * sizeof(Entry) + names_.size();
}

}  // namespace offcpud
