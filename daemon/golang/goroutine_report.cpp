// SPDX-License-Identifier: Apache-2.0
#include "golang/goroutine_report.h"

#include <array>
#include <utility>

namespace offcpud {
namespace {

using std::chrono::milliseconds;

// Unequal, so that no program that does something each half second is seen as one that waits.
constexpr std::array kPauses{milliseconds(370), milliseconds(630)};
// If fewer wait, a single stack that ends elsewhere proves nothing.
constexpr std::size_t kFew = 4;

bool are_stacks(const GoroutineLook& look) {
  return look.waiting.size() < kFew || look.lost * 2 <= look.waiting.size();
}

}  // namespace

Result<GoroutineReport> read_goroutines(const GoProgram::Sources& sources, const Clock& clock,
                                        std::uint32_t pid, std::size_t groups,
                                        const GoroutinePause& pause,
                                        const GoroutineLimits& limits) {
  TRY(const auto program, GoProgram::open(sources, pid));
  const std::string name = "process " + std::to_string(pid) + " (" + program->name() + ")";
  const Error gone(name + " has ended, or its goroutines cannot be read any more",
                   ErrorKind::NotFound);
  GoroutineReader reader(sources.memory, clock, pid, program->runtime(), program->functions(),
                         limits);
  auto look = reader.look();
  if (!look) return gone;
  if (!are_stacks(*look)) {
    return Error(name + " has goroutines that cannot be read: their stacks do not lead to where " +
                     program->runtime().version + " begins them",
                 ErrorKind::Unsupported);
  }
  const MonotonicTime first = look->at;
  for (const milliseconds length : kPauses) {
    if (!pause(length)) return Error("the request was given up");
    look = reader.look();
    if (!look) return gone;
  }
  GoroutineReport report{.pid = pid,
                         .program = program->name(),
                         .version = program->runtime().version,
                         .look = *std::move(look),
                         .took = {},
                         .groups = {}};
  report.took = report.look.at - first;
  report.groups =
      group_goroutines(report.look, reader, program->runtime(), program->functions(), groups);
  return report;
}

}  // namespace offcpud
