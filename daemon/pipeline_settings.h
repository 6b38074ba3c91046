// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/result.h"
#include "config/config.h"
#include "pipeline/pipeline.h"

namespace offcpud {

// The options of the pipeline that the configuration sets. `samples`: whether stacks of blocks are
// sampled. `io_stat`: reads which cgroups load a disk; null: io.stat is not read.
Result<PipelineOptions> pipeline_options(const Config& config, bool samples,
                                         std::shared_ptr<IoStat> io_stat);

}  // namespace offcpud
