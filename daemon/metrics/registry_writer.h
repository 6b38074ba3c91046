// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

#include "metrics/series_writer.h"

namespace offcpud {

// Writes families of prometheus-cpp, whose names are in the catalogue, in their order; the series
// of a family by their labels, because the library has them in the order of a hash. Throws
// std::logic_error for a name that is not: the daemon, which writes all once before it is ready,
// does not start.
void write_families(SeriesWriter& out, std::vector<prometheus::MetricFamily> families);

}  // namespace offcpud
