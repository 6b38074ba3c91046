// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sites/site_rules.h"

namespace offcpud {

// A number for a function or an executable: those that fit the same patterns share one; 0 fits
// none. Valid for the SiteMatcher that gave it, for its whole life.
using FrameKind = std::uint32_t;

// A block, or the wait of a goroutine, as rules look at it. Frames are outermost (root) first, as
// in a StackEntry.
struct SiteWait {
  FrameKind exe = 0;
  std::optional<std::size_t> reason = {};   // enum offcpud_hist_kind; none: not known, so no
                                            // rule with a reason takes it
  std::optional<FrameKind> goroutine = {};  // why it waits; none: it is a thread
  std::span<const FrameKind> user, kernel;
  // The functions that an interpreter runs in frames of `user`; empty: none, or not known.
  std::span<const FrameKind> interpreted = {};
};

// What was done so far.
struct SiteWork {
  std::uint64_t names = 0;      // functions and executables that were looked up among the patterns
  std::uint64_t globs = 0;      // globs that were run for these
  std::uint64_t waits = 0;      // stacks that were matched
  std::uint64_t rules = 0;      // rules whose conditions were looked at one by one
  std::uint64_t steps = 0;      // comparisons of a frame with a step of a rule, by number
  std::uint64_t forgotten = 0;  // names that had to go for lack of room; they are looked up again
};

// Decides which rule takes a wait. One thread at a time. Looks each name up among the patterns
// once; for a stack it then only compares numbers, and callers keep the answer for each stack. New
// rules need a new matcher with new numbers.
class SiteMatcher {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20;  // of memory for names

  explicit SiteMatcher(std::shared_ptr<const SiteRules> rules, std::size_t most_bytes = kMostBytes);

  // `function` and `object` as a StackFrame has them; an object that is not known is empty.
  FrameKind user_frame(std::string_view function, std::string_view object);
  FrameKind kernel_frame(std::string_view function);
  // `shown`: "Shop.pay (shop/till.py)".
  FrameKind interpreted_frame(std::string_view shown);
  // The file name of the executable; the name of the process where that is not known.
  FrameKind executable(std::string_view name);
  // Why a goroutine waits, as the runtime calls it.
  FrameKind goroutine_reason(std::string_view name);

  // The first rule that takes the wait; null: none does, and nobody can tell what it is for. The
  // pointer is good as long as the rules.
  const PreparedRule* find(const SiteWait& wait);

  [[nodiscard]] const SiteRules& rules() const { return *rules_; }
  [[nodiscard]] const SiteWork& work() const { return work_; }

  // For explanations: whether frames of that kind fit the pattern, or are passed over.
  [[nodiscard]] bool fits(FrameKind kind, PatternNumber pattern) const {
    return contains(kinds_[kind].patterns, pattern);
  }
  [[nodiscard]] bool passed_over(FrameKind kind) const { return kinds_[kind].passed_over; }
  // Whether the steps are found, and where, from the innermost function.
  bool find_in(std::span<const SiteStep> steps, std::span<const FrameKind> frames,
               StepPlaces& places);

 private:
  struct Kind {
    PatternSet patterns;
    bool passed_over = false;

    friend bool operator<(const Kind& a, const Kind& b) {
      return std::tie(a.passed_over, a.patterns) < std::tie(b.passed_over, b.patterns);
    }
  };

  FrameKind look_up(PatternKind kind, std::string_view name, std::string_view object);
  FrameKind number_of(Kind kind);

  std::shared_ptr<const SiteRules> rules_;
  std::size_t most_bytes_;
  std::unordered_map<std::string, FrameKind> names_;
  std::size_t bytes_ = 0;  // of names_, about
  std::deque<Kind> kinds_;
  std::map<Kind, FrameKind> kind_numbers_;
  std::string key_;     // of names_, kept for its room
  PatternSet present_;  // of the wait in hand, likewise
  SiteWork work_;
};

}  // namespace offcpud
