// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "pipeline/in_progress.h"
#include "pipeline/series_store.h"
#include "pipeline/view.h"

namespace offcpud {

// The rows of a View, sorted by cgroup: every path that has series, and those that only have
// threads, while there are fewer rows than `max_rows`; what comes beyond shares the row "(other)".
// `in_progress` null: no walk so far.
std::vector<SubjectSeries> subject_rows(const SeriesStore& store,
                                        const InProgressByPath* in_progress, std::size_t max_rows);

}  // namespace offcpud
