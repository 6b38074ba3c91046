// SPDX-License-Identifier: Apache-2.0
#include "symbols/function_index.h"

#include <algorithm>
#include <limits>
#include <span>
#include <tuple>
#include <unordered_map>

namespace offcpud {
namespace {

constexpr std::uint64_t kNoEnd = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t kNoName = std::numeric_limits<std::uint32_t>::max();

using Function = FunctionList::Function;

// A part of a function that no other function overlaps.
struct Piece {
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t owner;  // where the function starts
  std::uint32_t name;   // offset in the list's names; kNoName: known by its FDE only
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

// The functions that start inside of code, one for each address: the largest, by its best name.
std::vector<Function> distinct_functions(const FunctionList& list,
                                         std::span<const AddressRange> code) {
  const auto underscores = [&](const Function& function) {
    return std::min(list.name(function).find_first_not_of('_'), list.name(function).size());
  };
  std::vector<Function> functions;
  const AddressRange* range = nullptr;
  for (const Function& function : list.functions()) {
    if (starts_inside(code, function.start, &range)) functions.push_back(function);
  }
  std::sort(functions.begin(), functions.end(), [&](const Function& a, const Function& b) {
    if (a.start != b.start) return a.start < b.start;
    if (a.size != b.size) return a.size > b.size;
    if (a.preference != b.preference) return a.preference > b.preference;
    const std::size_t a_underscores = underscores(a);
    const std::size_t b_underscores = underscores(b);
    if (a_underscores != b_underscores) return a_underscores < b_underscores;
    const std::string_view a_name = list.name(a);
    const std::string_view b_name = list.name(b);
    return std::make_tuple(a_name.size(), a_name) < std::make_tuple(b_name.size(), b_name);
  });
  const auto same_start = [](const Function& a, const Function& b) { return a.start == b.start; };
  functions.erase(std::unique(functions.begin(), functions.end(), same_start), functions.end());
  return functions;
}

// Where a symbol that does not know its size ends at the latest.
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

// Ranges sorted by their start, cut so that each address belongs to the one that starts last.
class Flattener {
 public:
  void add(const Piece& range) {
    advance(range.start);
    open_.push_back(range);
  }
  std::vector<Piece> finish() {
    advance(kNoEnd);
    return std::move(pieces_);
  }

 private:
  void advance(std::uint64_t to) {
    while (!open_.empty() && at_ < to) {
      const Piece& top = open_.back();
      if (top.end <= at_) {
        open_.pop_back();
        continue;
      }
      const std::uint64_t end = std::min(top.end, to);
      pieces_.push_back({at_, end, top.owner, top.name});
      at_ = end;
    }
    at_ = to;
  }

  std::uint64_t at_ = 0;
  std::vector<Piece> open_;  // ascending starts
  std::vector<Piece> pieces_;
};

// `upper`, and of `lower` what it leaves free. Both are ascending and disjoint, and so is the
// result.
std::vector<Piece> fill_gaps(const std::vector<Piece>& upper, const std::vector<Piece>& lower) {
  std::vector<Piece> all;
  all.reserve(upper.size() + lower.size());
  auto next = upper.begin();
  for (Piece piece : lower) {
    for (; next != upper.end() && next->start < piece.end; ++next) {
      if (next->end > piece.start) {
        if (piece.start < next->start)
          all.push_back({piece.start, next->start, piece.owner, piece.name});
        piece.start = next->end;
        if (next->end >= piece.end) break;  // it may cover the next piece as well
      }
      all.push_back(*next);
    }
    if (piece.start < piece.end) all.push_back(piece);
  }
  all.insert(all.end(), next, upper.end());
  return all;
}

std::vector<Piece> all_pieces(const FunctionList& list, std::vector<AddressRange> unsorted_frames,
                              const std::vector<AddressRange>& unsorted_code) {
  const std::vector<AddressRange> code = sorted_ranges(unsorted_code);
  std::vector<AddressRange> frames = sorted_ranges(std::move(unsorted_frames));
  const AddressRange* section = nullptr;
  std::erase_if(frames, [&](const AddressRange& frame) {
    return !starts_inside(code, frame.start, &section);
  });
  const std::vector<Function> functions = distinct_functions(list, code);
  Flattener sized;
  Flattener unsized;
  Flattener framed;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const Function& function = functions[i];
    if (function.size > 0) {
      (void)starts_inside(code, function.start, &section);
      const std::uint64_t size = std::min(function.size, section->end - function.start);
      sized.add({function.start, function.start + size, function.start, function.name});
      continue;
    }
    const std::uint64_t next = i + 1 < functions.size() ? functions[i + 1].start : kNoEnd;
    unsized.add({function.start, end_of_unsized(function.start, next, frames, code), function.start,
                 function.name});
  }
  for (const AddressRange& frame : frames) {
    framed.add({frame.start, frame.end, frame.start, kNoName});
  }
  return fill_gaps(fill_gaps(sized.finish(), unsized.finish()), framed.finish());
}

}  // namespace

void FunctionList::add(std::uint64_t start, std::uint64_t size, std::string_view name,
                       std::uint8_t preference) {
  constexpr std::size_t kMaxNames = std::numeric_limits<std::int32_t>::max();
  if (name.size() >= kMaxNames - names_.size()) return;
  functions_.push_back({start, size, static_cast<std::uint32_t>(names_.size()), preference});
  names_.append(name);
  names_ += '\0';
}

FunctionIndex::FunctionIndex(const FunctionList& functions, std::vector<AddressRange> frames,
                             const std::vector<AddressRange>& code) {
  const std::vector<Piece> pieces = all_pieces(functions, std::move(frames), code);
  if (pieces.empty()) return;
  base_ = pieces.front().start;
  std::unordered_map<std::uint32_t, std::uint32_t> kept;  // a function in two pieces has one name
  entries_.reserve(pieces.size());
  for (const Piece& piece : pieces) {
    // Code spans less than 4 GiB, if not in the large code model; what a file has beyond stays
    // without names.
    constexpr std::uint64_t kMaxDistance = std::numeric_limits<std::uint32_t>::max();
    if (piece.start - base_ >= kMaxDistance) break;
    const std::uint64_t end = std::min(piece.end - base_, kMaxDistance);
    Entry entry{static_cast<std::uint32_t>(piece.start - base_),
                static_cast<std::uint32_t>(end - (piece.start - base_)), 0};
    if (piece.name == kNoName) {
      if (piece.start - piece.owner >= kFrame) continue;
      entry.name = kFrame | static_cast<std::uint32_t>(piece.start - piece.owner);
    } else {
      const auto [place, added] =
          kept.try_emplace(piece.name, static_cast<std::uint32_t>(names_.size()));
      if (added) {
        names_.append(functions.name({.name = piece.name}));
        names_ += '\0';
      }
      entry.name = place->second;
    }
    entries_.push_back(entry);
  }
  entries_.shrink_to_fit();
  names_.shrink_to_fit();
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
  return Found{.name = names_.c_str() + entry.name};
}

std::size_t FunctionIndex::bytes() const {
  return sizeof(*this) + entries_.capacity() * sizeof(Entry) + names_.capacity();
}

}  // namespace offcpud
