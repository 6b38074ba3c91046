// SPDX-License-Identifier: Apache-2.0
#include "pipeline_settings.h"

#include <utility>

#include "runtime/logging.h"
#include "selection/process_rules.h"
#include "selection/stall_rules.h"

namespace offcpud {
namespace {

void warn_of_unreadable_exe(const Error& error) {
  log_warning_limited(
      "exe",
      error.message() +
          "; process rules with exe need CAP_SYS_PTRACE for other users' programs: add it to "
          "CapabilityBoundingSet= and AmbientCapabilities= with 'systemctl edit offcpud'");
}

}  // namespace

Result<PipelineOptions> pipeline_options(const Config& config, bool samples,
                                         std::shared_ptr<IoStat> io_stat) {
  PipelineOptions options{.linger = config.linger,
                          .max_series = config.max_series,
                          .stall_bounds = config.stalls.over,
                          .keep_stalls = config.stalls.keep,
                          .unusual_factor = config.stalls.unusual,
                          .max_takers = config.max_takers,
                          .io_stat = std::move(io_stat)};
  options.processes = {.top = config.processes.top, .linger = config.linger, .is_chosen = nullptr};
  TRY(options.processes.is_chosen, process_choice(config.processes, warn_of_unreadable_exe));
  options.examined_kinds = samples ? config.snapshots.reasons : 0;
  TRY(options.stalls, stall_policy(config.stalls, options.examined_kinds));
  return options;
}

}  // namespace offcpud
