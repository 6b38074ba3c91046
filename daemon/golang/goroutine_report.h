// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "golang/go_program.h"
#include "golang/goroutine_groups.h"
#include "golang/goroutine_reader.h"

namespace offcpud {

// What the goroutines of a process wait for now.
struct GoroutineReport {
  std::uint32_t pid = 0;
  std::string program, version;     // "shop", "go1.19.8"; as they may be shown
  GoroutineLook look;               // the last one
  std::chrono::nanoseconds took{};  // from the first look to the last
  GoroutineGroups groups;
};

// Waits for this time. False: nobody needs the report any more.
using GoroutinePause = std::function<bool(std::chrono::milliseconds)>;

// Looks at the process three times within a second, to know which goroutines waited all that time.
// `groups`: the most groups. The error is a sentence about the process; see GoProgram::open().
Result<GoroutineReport> read_goroutines(const GoProgram::Sources& sources, const Clock& clock,
                                        std::uint32_t pid, std::size_t groups,
                                        const GoroutinePause& pause,
                                        const GoroutineLimits& limits = {});

// Makes such reports for requests.
class GoroutineSource {
 public:
  virtual ~GoroutineSource() = default;
  // `groups`: the most groups. Takes a second or two; ends early, with an error, once `stop` is
  // requested. Used by one thread.
  virtual Result<GoroutineReport> goroutines_of(std::uint32_t pid, std::size_t groups,
                                                const std::stop_token& stop) = 0;
};

}  // namespace offcpud
