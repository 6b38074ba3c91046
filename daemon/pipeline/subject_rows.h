// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "pipeline/in_progress.h"
#include "pipeline/series_store.h"
#include "pipeline/view.h"

namespace offcpud {

// The rows of a View, sorted by cgroup: every path that has series, and then paths that only have
// threads while there are fewer than `max_rows` rows. The rest shares the row "(other)".
// `in_progress` null: there has been no walk.
std::vector<SubjectSeries> subject_rows(const SeriesStore& store,
                                        const InProgressByPath* in_progress, std::size_t max_rows);

}  // namespace offcpud
