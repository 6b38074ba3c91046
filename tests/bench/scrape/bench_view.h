// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <prometheus/metric_family.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "pipeline/view.h"

namespace offcpud {

inline constexpr unsigned kBenchBuckets = 28;

// Every subject has a hundred episodes of every kind, with labels as long as a systemd service has
// them. The same in every run.
std::shared_ptr<const View> make_view(std::size_t series);

// The same data in the model of prometheus-cpp.
std::vector<prometheus::MetricFamily> families_of(const View& view);

}  // namespace offcpud
