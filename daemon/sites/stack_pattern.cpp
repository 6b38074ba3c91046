// SPDX-License-Identifier: Apache-2.0
#include "sites/stack_pattern.h"

#include "base/printable.h"

namespace offcpud {
namespace {

constexpr std::string_view kCalledBy = " < ";
constexpr std::string_view kGap = "...";

// The text with every run of white space as one space, and none at its ends: values of YAML may go
// on over several lines.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!space) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  if (line.ends_with(' ')) line.pop_back();
  return line;
}

// A pattern in the form of frames: its steps are frames, and its gaps are frames that nothing fits.
// It stands for every stack in which the pattern is found.
class StepsAsFrames {
 public:
  explicit StepsAsFrames(const StackPattern& pattern) {
    for (const StackPattern::Step& step : pattern.steps) {
      if (step.after_gap) frames_.push_back(nullptr);
      frames_.push_back(&step.frame);
    }
  }

  [[nodiscard]] std::size_t size() const { return frames_.size(); }
  [[nodiscard]] bool matches(std::size_t place, const StackPattern::Step& step) const {
    return frames_[place] != nullptr && step.frame.covers(*frames_[place]);
  }
  [[nodiscard]] static bool passed_over(std::size_t /*place*/) { return false; }

 private:
  std::vector<const FramePattern*> frames_;
};

}  // namespace

Result<StackPattern> StackPattern::parse(std::string_view text, PatternKind kind) {
  StackPattern pattern;
  pattern.text = one_line(text);
  if (pattern.text.empty()) return pattern_problem("no function");
  if (pattern.text.size() > kMostBytes) {
    return pattern_problem("longer than " + std::to_string(kMostBytes) +
                           " bytes: two rules may have the same name");
  }
  bool after_gap = false;
  for (std::string_view rest = pattern.text; true;) {
    const std::size_t end = rest.find(kCalledBy);
    const std::string_view part = rest.substr(0, end);
    if (part == kGap) {
      if (after_gap) return pattern_problem("... twice in a row");
      after_gap = true;
    } else {
      TRY(auto frame, FramePattern::parse(part, kind));
      pattern.steps.push_back({after_gap, std::move(frame)});
      after_gap = false;
    }
    if (pattern.steps.size() > kMostSteps) {
      return pattern_problem("more than " + std::to_string(kMostSteps) + " functions");
    }
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + kCalledBy.size());
  }
  if (after_gap) {
    return pattern_problem(
        "... at the end, which says nothing: what called the last function never matters");
  }
  return pattern;
}

bool StackPattern::covers(const StackPattern& other) const {
  StepPlaces places{};
  return find_steps<Step>(steps, StepsAsFrames(other), places);
}

}  // namespace offcpud
