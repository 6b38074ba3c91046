// SPDX-License-Identifier: Apache-2.0
// Hostile stacks before rules, against a search that tries everything.
#include <algorithm>
#include <optional>

#include "fuzz.h"
#include "sites/site_matcher.h"
#include "sites/wait_classifier.h"
#include "text.h"

namespace offcpud::fuzz {
namespace {

struct Frame {
  std::string function, object;
};

bool plain_glob(std::string_view glob, std::string_view text) {
  std::vector<bool> reached(text.size() + 1, false);
  reached[0] = true;
  for (const char c : glob) {
    if (c == '*') {
      for (std::size_t i = 1; i <= text.size(); ++i) reached[i] = reached[i] || reached[i - 1];
    } else {
      for (std::size_t i = text.size(); i > 0; --i) reached[i] = reached[i - 1] && text[i - 1] == c;
      reached[0] = false;
    }
  }
  return reached[text.size()];
}

bool plain_fit(const FramePattern& pattern, const Frame& frame) {
  const std::string_view object = object_of_frame(frame.function, frame.object);
  const bool named = is_function_name(frame.function) && frame.function.size() <= kLongestFrameName;
  return std::ranges::any_of(pattern.alternatives, [&](const auto& each) {
    if (!each.object.empty() && !plain_glob(each.object, object)) return false;
    if (each.function == "*") return true;
    return named && plain_glob(each.function, without_compiler_suffix(frame.function));
  });
}

// Whether the steps from `step` on are found in the frames from `place` on, innermost first.
bool plain_search(const StackPattern& pattern, std::size_t step, const std::vector<Frame>& frames,
                  std::size_t place) {
  if (step == pattern.steps.size()) return true;
  if (place == frames.size()) return false;
  const auto& [after_gap, frame] = pattern.steps[step];
  if (plain_fit(frame, frames[place]) && plain_search(pattern, step + 1, frames, place + 1)) {
    return true;
  }
  const bool skips =
      after_gap ||
      (step == 0 && is_passed_over(object_of_frame(frames[place].function, frames[place].object)));
  return skips && plain_search(pattern, step, frames, place + 1);
}

bool found(const StackPattern& pattern, const std::vector<Frame>& frames) {
  SiteRule rule;
  rule.name = "rule";
  rule.match = pattern;
  const auto rules = SiteRules::make({rule});
  require(static_cast<bool>(rules), "one rule is a set of rules");
  SiteMatcher matcher(*rules);
  std::vector<FrameKind> kinds;
  for (const Frame& frame : frames)
    kinds.push_back(matcher.user_frame(frame.function, frame.object));
  std::ranges::reverse(kinds);
  const bool is_found = matcher.find({.user = kinds}) != nullptr;
  WaitClassifier classifier(*rules, 0);  // no room: it remembers one stack
  kinds.clear();
  for (const Frame& frame : frames) {
    kinds.push_back(classifier.user_frame({frame.function, frame.object}));
  }
  std::ranges::reverse(kinds);
  for (int again = 0; again < 2; ++again) {
    require(classifier.classify({.user = kinds}).site.empty() != is_found,
            "it is classified by what is found, the first time and from memory");
  }
  require(matcher.work().steps <= StackPattern::kMostSteps * (frames.size() + 1),
          "a stack costs little");
  return is_found;
}

}  // namespace

void test(std::string_view input) {
  constexpr std::size_t kMostFrames = 12;  // the other search takes exponential time
  ByteReader in(bytes_of(input));
  const auto one = StackPattern::parse(take_text(in), PatternKind::User);
  const auto other = StackPattern::parse(take_text(in), PatternKind::User);
  for (const auto* const each : {&one, &other}) {
    if (!*each)
      return require(is_printable((*each).error().message()) || !is_utf8(input), "one line");
  }
  std::vector<Frame> frames;
  while (!in.rest().empty() && frames.size() < kMostFrames) {
    Frame frame;
    frame.function = take_text(in);
    frame.object = take_text(in);
    frames.push_back(std::move(frame));
  }
  const bool has_one = found(*one, frames);
  const bool has_other = found(*other, frames);
  require(has_one == plain_search(*one, 0, frames, 0), "what is there is found");
  require(has_other == plain_search(*other, 0, frames, 0), "what is there is found");
  require(!one->covers(*other) || !has_other || has_one,
          "one that covers another is found with it");
}

std::vector<std::string> seeds() {
  return {
      as_input({"... < ProcSleep", "WaitLatch < ProcSleep", "epoll_wait", "libc.so.6", "WaitLatch",
                "postgres", "ProcSleep", "postgres"}),
      as_input({"*@libpq.so* | a::*b*", "A < ... < B < * < C", "libpq.so.5!fn_12", "", "A", "x",
                "B", "x", "[jit]", "[jit]", "C", "x"}),
      as_input({"... < f.g < ... < *", "f.g", "f.g.constprop.0", "", "f.g.cold", "libc.so.6"}),
      as_input({"a*a*a*a*b", "... < a*", std::string(4'000, 'a'), "libstdc++.so.6", "aab", ""}),
  };
}

}  // namespace offcpud::fuzz
