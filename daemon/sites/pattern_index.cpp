// SPDX-License-Identifier: Apache-2.0
#include "sites/pattern_index.h"

#include <algorithm>

#include "sites/glob.h"

namespace offcpud {
namespace {

constexpr unsigned kWordBits = 64;

}  // namespace

void insert(PatternSet& set, PatternNumber number) {
  if (set.size() <= number / kWordBits) set.resize(number / kWordBits + 1);
  set[number / kWordBits] |= std::uint64_t{1} << number % kWordBits;
}

bool contains(const PatternSet& set, PatternNumber number) {
  return number / kWordBits < set.size() &&
         (set[number / kWordBits] >> number % kWordBits & 1) != 0;
}

void insert_all(PatternSet& set, const PatternSet& more) {
  if (set.size() < more.size()) set.resize(more.size());
  for (std::size_t i = 0; i < more.size(); ++i) set[i] |= more[i];
}

bool is_subset(const PatternSet& part, const PatternSet& whole) {
  for (std::size_t i = 0; i < part.size(); ++i) {
    if ((part[i] & ~(i < whole.size() ? whole[i] : 0)) != 0) return false;
  }
  return true;
}

PatternNumber PatternIndex::add(const FramePattern& pattern) {
  OfKind& kind = kinds_[static_cast<std::size_t>(pattern.kind)];
  const auto next = static_cast<PatternNumber>(patterns_.size());
  const auto [place, is_new] = kind.numbers.try_emplace(pattern.text, next);
  if (!is_new) return place->second;
  patterns_.push_back(pattern);
  for (const FramePattern::Alternative& each : pattern.alternatives) {
    if (is_glob(each.function)) {
      kind.globs.push_back({next, each});
    } else {
      kind.literals[each.function].push_back({next, each});
    }
    if (pattern.kind == PatternKind::Exe && !is_glob(each.function) &&
        each.function.size() > kLongestComm) {
      kind.literals[each.function.substr(0, kLongestComm)].push_back({next, each});
    }
  }
  return next;
}

PatternSet PatternIndex::find(PatternKind kind, std::string_view name, std::string_view object,
                              std::uint64_t& globs_run) const {
  const ComparedName frame = compared_name(kind, name, object);
  PatternSet found;
  const auto object_fits = [&](const Entry& entry) {
    if (entry.alternative.object.empty()) return true;
    ++globs_run;
    return glob_matches(entry.alternative.object, frame.object);
  };
  if (frame.has_name || frame.has_start) {
    if (const auto literals = of(kind).literals.find(frame.has_name ? frame.name : kWithoutSymbol);
        literals != of(kind).literals.end()) {
      for (const Entry& entry : literals->second) {
        if (object_fits(entry)) insert(found, entry.pattern);
      }
    }
  }
  for (const Entry& entry : of(kind).globs) {
    // A star alone is any function, also one without a name.
    const std::string& glob = entry.alternative.function;
    if (!frame.has_name && glob != "*") continue;
    if (contains(found, entry.pattern)) continue;
    if (glob != "*") {
      ++globs_run;
      if (!glob_matches(glob, frame.name)) continue;
    }
    if (object_fits(entry)) insert(found, entry.pattern);
  }
  return found;
}

}  // namespace offcpud
