// SPDX-License-Identifier: Apache-2.0
#include "sites/site_matcher.h"

#include <algorithm>

#include "base/interpreted_name.h"

namespace offcpud {
namespace {

// More different sets of patterns than honest names have; names with further sets fit nothing.
constexpr std::size_t kMostKinds = 4'096;

constexpr std::size_t kBytesOfName = 80;  // of the table of names, beside the name

bool is_passed_over_frame(PatternKind kind, std::string_view name, std::string_view object) {
  if (kind == PatternKind::Kernel) return is_scheduler_function(name);
  return kind == PatternKind::User && is_passed_over(object_of_frame(name, object));
}

// Frames from the innermost outwards, as find_steps() takes them.
class InnermostFirst {
 public:
  InnermostFirst(const SiteMatcher& matcher, std::span<const FrameKind> frames,
                 std::uint64_t& steps)
      : matcher_(matcher), frames_(frames), steps_(steps) {}

  [[nodiscard]] std::size_t size() const { return frames_.size(); }
  [[nodiscard]] bool matches(std::size_t place, const SiteStep& step) const {
    ++steps_;
    return matcher_.fits(at(place), step.pattern);
  }
  [[nodiscard]] bool passed_over(std::size_t place) const {
    return matcher_.passed_over(at(place));
  }

 private:
  [[nodiscard]] FrameKind at(std::size_t place) const {
    return frames_[frames_.size() - 1 - place];
  }

  const SiteMatcher& matcher_;
  std::span<const FrameKind> frames_;
  std::uint64_t& steps_;
};

}  // namespace

SiteMatcher::SiteMatcher(std::shared_ptr<const SiteRules> rules, std::size_t most_bytes)
    : rules_(std::move(rules)), most_bytes_(most_bytes) {
  number_of({});  // 0 fits nothing
}

FrameKind SiteMatcher::number_of(Kind kind) {
  const auto found = kind_numbers_.find(kind);
  if (found != kind_numbers_.end()) return found->second;
  if (kinds_.size() == kMostKinds) return 0;
  const auto number = static_cast<FrameKind>(kinds_.size());
  kinds_.push_back(kind);
  kind_numbers_.emplace(std::move(kind), number);
  return number;
}

FrameKind SiteMatcher::look_up(PatternKind kind, std::string_view name, std::string_view object) {
  if (name.size() > kLongestFrameName) name = {};  // nor is it kept
  if (object.size() > kLongestFrameName) object = {};
  key_.assign(1, static_cast<char>('0' + static_cast<int>(kind)));
  key_.append(object).append(1, '\0').append(name);
  const auto known = names_.find(key_);
  if (known != names_.end()) return known->second;

  ++work_.names;
  Kind found{.patterns = rules_->patterns().find(kind, name, object, work_.globs),
             .passed_over = is_passed_over_frame(kind, name, object)};
  const FrameKind number = number_of(std::move(found));
  if (bytes_ >= most_bytes_) {
    work_.forgotten += names_.size();
    names_.clear();
    bytes_ = 0;
  }
  names_.emplace(key_, number);
  bytes_ += key_.size() + kBytesOfName;
  return number;
}

FrameKind SiteMatcher::user_frame(std::string_view function, std::string_view object) {
  return look_up(PatternKind::User, function, object);
}

FrameKind SiteMatcher::kernel_frame(std::string_view function) {
  return look_up(PatternKind::Kernel, function, {});
}

FrameKind SiteMatcher::interpreted_frame(std::string_view shown) {
  const InterpretedName name = interpreted_name(shown);
  return look_up(PatternKind::Interpreted, name.function, name.file);
}

FrameKind SiteMatcher::executable(std::string_view name) {
  return look_up(PatternKind::Exe, name, {});
}

bool SiteMatcher::find_in(std::span<const SiteStep> steps, std::span<const FrameKind> frames,
                          StepPlaces& places) {
  return find_steps(steps, InnermostFirst(*this, frames, work_.steps), places);
}

FrameKind SiteMatcher::goroutine_reason(std::string_view name) {
  return look_up(PatternKind::Goroutine, name, {});
}

const PreparedRule* SiteMatcher::find(const SiteWait& wait) {
  ++work_.waits;
  present_.clear();
  insert_all(present_, kinds_[wait.exe].patterns);
  if (wait.goroutine) insert_all(present_, kinds_[*wait.goroutine].patterns);
  for (const FrameKind frame : wait.user) insert_all(present_, kinds_[frame].patterns);
  for (const FrameKind frame : wait.kernel) insert_all(present_, kinds_[frame].patterns);
  for (const FrameKind frame : wait.interpreted) insert_all(present_, kinds_[frame].patterns);

  StepPlaces places{};
  for (const PreparedRule& each : rules_->rules()) {
    if (each.rule.is_for_goroutines() != wait.goroutine.has_value()) continue;
    const std::uint32_t reasons = each.rule.reasons;
    if (reasons != 0 && (!wait.reason || (reasons >> *wait.reason & 1U) == 0)) continue;
    if (!is_subset(each.needed, present_)) continue;
    ++work_.rules;
    if (find_in(each.match, wait.user, places) && find_in(each.kernel, wait.kernel, places) &&
        find_in(each.interpreted, wait.interpreted, places)) {
      return &each;
    }
  }
  return nullptr;
}

}  // namespace offcpud
