// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/result.h"
#include "config/config.h"
#include "pipeline/pipeline.h"

namespace offcpud {

// What the configuration says about the pipeline. `samples`: stacks of blocks are sampled.
// `io_stat`: who tells which cgroups load a disk; null: not io.stat.
Result<PipelineOptions> pipeline_options(const Config& config, bool samples,
                                         std::shared_ptr<IoStat> io_stat);

}  // namespace offcpud
