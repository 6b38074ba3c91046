// SPDX-License-Identifier: Apache-2.0
#include "api/first_look.h"

#include <chrono>

#include "base/duration_text.h"
#include "pipeline/stall.h"

namespace offcpud {
namespace {

// A window of ten seconds, and some more to attach, to examine the window and to show it in a pass.
constexpr std::chrono::seconds kFirstWindow{20};

}  // namespace

std::string first_look_text(const View& view) {
  if (!view.stalls || !view.stalls->examines || !view.site_history.empty()) return {};
  if (view.counting_since == WallTime{}) return {};
  const auto since =
      std::chrono::floor<std::chrono::seconds>(view.taken_wall - view.counting_since);
  // Negative: the clock was set back meanwhile.
  if (since < since.zero() || since >= kFirstWindow) return {};
  return std::string(kStartedAgo) + duration_text(since) + " ago; ask again in 10 s";
}

}  // namespace offcpud
