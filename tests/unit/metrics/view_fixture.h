// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>

#include "api/scrape_costs.h"
#include "metrics/exposition.h"
#include "metrics/self_metrics.h"
#include "pipeline/view.h"

namespace offcpud::test {

// The histogram of these durations.
std::shared_ptr<const LatencyHistogram> histogram_of(std::initializer_list<std::uint64_t> ns);

// A subject that has a cgroup path and no other label.
SubjectSeries subject_of(std::string cgroup);

// Two ordinary subjects, one with hostile label values and one without any episode. Of its
// processes one is not exported.
std::shared_ptr<const View> hostile_view();

// Reads all of it through a buffer of this size.
std::string read_all(Exposition& exposition, std::size_t buffer_size = 65536);
std::string read_all(const BodyStream& body, std::size_t buffer_size = 65536);

// The whole text; `self_metrics` comes last.
std::string render(std::shared_ptr<const View> view, unsigned classic_buckets = 28,
                   const std::string& self_metrics = {}, std::size_t buffer_size = 65536);

// What the daemon says of itself, as text.
std::string text_of(const SelfMetrics& metrics);

}  // namespace offcpud::test
