// SPDX-License-Identifier: Apache-2.0
#include "sampler/answer_past.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"

namespace offcpud {
namespace {

constexpr double kHalfLifeNs = 600 * kNsPerSecond, kHalfLifeOfTimeNs = 60 * kNsPerSecond;
// Older ends than these many change nothing, so that a habit ends as soon as it began.
constexpr float kMostVotes = 2 * AnswerPast::kSameOnes;

}  // namespace

void AnswerPast::add(std::uint64_t length_ns, double waits, bool is_first) {
  const double seconds = static_cast<double>(length_ns) / kNsPerSecond;
  const auto count = static_cast<float>(waits);
  answers_ += count;
  seconds_ += static_cast<float>(seconds * waits);
  if (seconds < kSoonSeconds) return;
  slow_ += count;
  if (seconds < kLateSeconds) {
    if (!is_first) vote(seconds);
    return;
  }
  late_ += count;
  if (late_ones_ < kLateOnes) ++late_ones_;
}

// The majority vote of Boyer and Moore: what most of them took remains.
void AnswerPast::vote(double seconds) {
  const double whole = std::floor(seconds), late = seconds - whole;
  const auto timeout = static_cast<float>(whole);
  const bool may_be_same = same_ > 0 && timeout == timeout_ && late <= kBusySeconds;
  if (may_be_same) same_seconds_ += static_cast<float>(seconds);
  if (may_be_same && late <= kTooLateSeconds) {
    same_ = std::min(same_ + 1, kMostVotes);
    return;
  }
  same_ = std::max(0.0F, same_ - (may_be_same ? 0.5F : 1.0F));
  if (late > kTooLateSeconds || same_ > 0) return;
  timeout_ = timeout;
  same_ = 1;
  same_seconds_ = static_cast<float>(seconds);
}

void AnswerPast::fade(std::uint64_t ns) {
  const auto kept = [ns](double half_life_ns) {
    return static_cast<float>(std::exp2(-static_cast<double>(ns) / half_life_ns));
  };
  for (float* const each : {&answers_, &slow_, &late_}) *each *= kept(kHalfLifeNs);
  for (float* const each : {&seconds_, &same_seconds_}) *each *= kept(kHalfLifeOfTimeNs);
}

AnswerPast::Habit AnswerPast::habit() const {
  const bool is_late = late_ones_ >= kLateOnes && late_ > answers_ / 2;
  const bool is_timeout = same_ >= kSameOnes && same_seconds_ > seconds_ / 2;
  if (is_late || is_timeout) return Habit::Work;
  return answers_ >= kFewest && slow_ <= kMostSlow * answers_ ? Habit::Soon : Habit::Unknown;
}

}  // namespace offcpud
