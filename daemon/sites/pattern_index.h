// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sites/frame_pattern.h"

namespace offcpud {

using PatternNumber = std::uint16_t;

// A set of patterns, by number: bits, 64 in a word. Sets of one index have one length once it is
// complete; words that are missing at the end are 0.
using PatternSet = std::vector<std::uint64_t>;

void insert(PatternSet& set, PatternNumber number);
bool contains(const PatternSet& set, PatternNumber number);
void insert_all(PatternSet& set, const PatternSet& more);
bool is_subset(const PatternSet& part, const PatternSet& whole);

// All different patterns of a set of rules. Finds those that a name fits: patterns without a star
// by one look-up, the others one by one. Not changed once complete; then any number of threads may
// use it.
class PatternIndex {
 public:
  // The number of the pattern, which is the same for the same text.
  PatternNumber add(const FramePattern& pattern);

  [[nodiscard]] std::span<const FramePattern> patterns() const { return patterns_; }

  // The patterns of that kind that the function of the object, or the executable, fits. `globs_run`
  // grows by how many globs were tried.
  [[nodiscard]] PatternSet find(PatternKind kind, std::string_view name, std::string_view object,
                                std::uint64_t& globs_run) const;

 private:
  struct Entry {
    PatternNumber pattern = 0;
    FramePattern::Alternative alternative;
  };
  struct HashText {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  struct OfKind {
    std::unordered_map<std::string, std::vector<Entry>, HashText, std::equal_to<>> literals;
    std::vector<Entry> globs;
    std::map<std::string, PatternNumber> numbers;  // by text
  };

  [[nodiscard]] const OfKind& of(PatternKind kind) const {
    return kinds_[static_cast<std::size_t>(kind)];
  }

  OfKind kinds_[kPatternKinds];  // by PatternKind
  std::vector<FramePattern> patterns_;
};

}  // namespace offcpud
