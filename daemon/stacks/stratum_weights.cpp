// SPDX-License-Identifier: Apache-2.0
#include "stacks/stratum_weights.h"

#include <algorithm>
#include <cmath>

#include "base/hist_kind.h"
#include "stacks/sampling_intervals.h"

namespace offcpud {
namespace {

// The first guess counts as much as this time of known waits: ten seconds of one thread. So a few
// samples change little.
constexpr double kGuessNs = 1e10;

// Less than this says nothing any more.
constexpr double kForgottenNs = 1;

double first_guess(std::size_t stratum) {
  const bool kernel_threads = stratum / OFFCPUD_SAMPLE_REASONS == OFFCPUD_ROW_OF_KERNEL_THREADS;
  const bool idle = kernel_threads || is_idle_prone(stratum % OFFCPUD_SAMPLE_REASONS);
  return idle ? StratumWeights::kIdle * StratumWeights::kIdle : 1.0;
}

}  // namespace

StratumWeights::StratumWeights() : known_(kStrata) {}

void StratumWeights::add(const StratumTimes& times, std::chrono::nanoseconds since_last) {
  const auto half_lives = std::chrono::duration<double>(since_last) / kHalfLife;
  const double kept = std::exp2(-half_lives);
  const auto fade = [kept](double& ns) { ns = ns * kept < kForgottenNs ? 0 : ns * kept; };
  for (KnownWaits& waits : known_) {
    fade(waits.actionable_ns);
    fade(waits.idle_ns);
    fade(waits.unknown_ns);
  }
  for (const auto& [stratum, waits] : times) known_[stratum] += waits;
}

double StratumWeights::of(std::size_t stratum) const {
  const KnownWaits& waits = known_[stratum];
  const double guessed_ns = kGuessNs + waits.unknown_ns;
  const double all_ns = guessed_ns + waits.actionable_ns + waits.idle_ns;
  const double part = (waits.actionable_ns + first_guess(stratum) * guessed_ns) / all_ns;
  return std::max(std::sqrt(part), kIdle);
}

}  // namespace offcpud
