// SPDX-License-Identifier: Apache-2.0
#include "loss_journal.h"

#include <string_view>

#include "base/amount_text.h"
#include "runtime/logging.h"
#include "runtime/message_ids.h"

namespace offcpud {
namespace {

constexpr const char* kWhatItDoes =
    ": docs/semantics.md, \"What is missing, and how one knows\", or man offcpud-metrics, says "
    "what that does to the numbers";
constexpr const char* kGuarded =
    ": process 1 of this host is guarded, so its switches are missed, and wakeups while it runs "
    "(docs/kernel-support.md, \"Losses to expect\"). Up to two such events for each of its "
    "switches get no further line";

bool is_beside_guard(std::string_view cause) {
  return cause == "missed_switch" || cause == "missed_wakeup";
}

}  // namespace

std::vector<LossJournal::Line> LossJournal::lines(const std::vector<LossCount>& losses) {
  std::uint64_t missed = 0;
  for (const LossCount& loss : losses) missed += is_beside_guard(loss.cause) ? loss.events : 0;
  of_guard_ = init_ ? init_->explained(missed) : 0;
  const bool is_expected = init_ && missed == of_guard_;
  std::vector<Line> lines;
  for (LossCount& loss : losses_.grown(losses)) {
    const bool guarded = is_expected && is_beside_guard(loss.cause);
    if (guarded && guard_told_) continue;
    guard_told_ = guard_told_ || guarded;
    std::string text = "the kernel side has lost " + counted(loss.events, "event") +
                       " so far, cause " + loss.cause + (guarded ? kGuarded : kWhatItDoes);
    lines.push_back({.loss = std::move(loss), .text = std::move(text)});
  }
  return lines;
}

void LossJournal::record(const std::vector<LossCount>& losses) {
  for (const Line& line : lines(losses)) {
    log_warning_limited("lost " + line.loss.cause, line.text,
                        {{kMessageId, kEventsLostId},
                         {"cause", line.loss.cause},
                         {"count", std::to_string(line.loss.events)}});
  }
}

}  // namespace offcpud
