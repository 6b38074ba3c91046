// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

#include "metrics/series_writer.h"

namespace offcpud {

// Writes families of prometheus-cpp in the order of the catalogue, and the series of a family by
// their labels: the library keeps them in the order of a hash. Throws std::logic_error if a name is
// not in the catalogue. The daemon writes all families once before it is ready, so with such a name
// it does not start.
void write_families(SeriesWriter& out, std::vector<prometheus::MetricFamily> families);

}  // namespace offcpud
