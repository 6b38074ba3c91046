// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sites/frame_pattern.h"

namespace offcpud {

// What a stack looks like, innermost function first: "A < B" where B called A; "A < ... < B" with
// any number of functions in between, also none; "... < A" when A need not be the innermost.
struct StackPattern {
  struct Step {
    bool after_gap = false;  // "..." stands before it
    FramePattern frame;
  };
  std::string text;         // as it was written, but for its white space
  std::vector<Step> steps;  // none: not given

  static constexpr std::size_t kMostSteps = 16;
  static constexpr std::size_t kMostBytes = 4'000;

  // The error is a fragment that says what to write.
  static Result<StackPattern> parse(std::string_view text, PatternKind kind);

  // Whether every stack in which `other` is found certainly has this one, too. Both must be of one
  // kind; a pattern without steps is found in every stack.
  [[nodiscard]] bool covers(const StackPattern& other) const;
};

// The place of each step, counted from the innermost function.
using StepPlaces = std::array<std::size_t, StackPattern::kMostSteps>;

// Looks for the steps in `frames`, which has size(), matches(place, step) and passed_over(place),
// place 0 being the innermost function. A first step that is not behind a gap must fit the
// innermost function, or the next one behind functions that are passed over. `Step` needs the
// member `after_gap`. True: they were found, and `places` has the innermost possible places.
template <class Step, class Frames>
bool find_steps(std::span<const Step> steps, const Frames& frames, StepPlaces& places) {
  const auto fit = [&](std::span<const Step> run, std::size_t place) {
    if (place + run.size() > frames.size()) return false;
    for (std::size_t i = 0; i < run.size(); ++i) {
      if (!frames.matches(place + i, run[i])) return false;
    }
    return true;
  };
  std::size_t place = 0;
  for (std::size_t first = 0, last = 0; first < steps.size(); first = last) {
    // Steps without a gap between them.
    for (last = first + 1; last < steps.size() && !steps[last].after_gap; ++last) {
    }
    const std::span<const Step> run = steps.subspan(first, last - first);
    while (!fit(run, place)) {
      if (place + run.size() >= frames.size()) return false;
      if (!steps[first].after_gap && !frames.passed_over(place)) return false;
      ++place;
    }
    for (std::size_t i = first; i < last; ++i) places[i] = place++;
  }
  return true;
}

}  // namespace offcpud
