// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "pipeline/pipeline.h"
#include "support/fake_clock.h"
#include "support/fake_reading_source.h"
#include "support/temp_tree.h"
#include "unit/pipeline/short_names.h"

namespace offcpud {

using test::kSleep;

inline constexpr std::uint64_t kShortLived = 1ULL << 40;  // no directory has this inode

// A pipeline over a kernel that a test charges, and a hierarchy with a few cgroups.
class PipelineTest : public testing::Test {
 protected:
  PipelineTest() { EXPECT_TRUE(pipeline_.start()); }

  Result<std::shared_ptr<const View>> pass() {
    TRY(const KernelReading sample, pipeline_.read());
    return pipeline_.attribute(sample);
  }

  const SubjectSeries* find(const View& view, std::string_view cgroup) const {
    const auto found = std::ranges::find_if(
        view.subjects, [&](const SubjectSeries& s) { return s.labels->cgroup == cgroup; });
    return found == view.subjects.end() ? nullptr : &*found;
  }

  std::uint64_t count(const View& view, std::string_view cgroup) const {
    const SubjectSeries* series = find(view, cgroup);
    return series && series->histograms[kSleep] ? series->histograms[kSleep]->count() : 0;
  }

  static std::uint64_t total(const View& view) {
    std::uint64_t sum = 0;
    for (const SubjectSeries& series : view.subjects) {
      if (series.histograms[kSleep]) sum += series.histograms[kSleep]->count();
    }
    return sum;
  }

  void create(std::uint64_t id, const std::string& parent, const std::string& name) {
    pipeline_.apply({CgroupChange::Kind::Created, id, tree_.inode(parent), name});
  }
  void remove(std::uint64_t id) { pipeline_.apply({CgroupChange::Kind::Removed, id, 0, ""}); }

  TempTree tree_{{"system.slice/nginx.service/"}, {"user.slice/"}};
  FakeClock clock_;
  FakeReadingSource kernel_;
  const PipelineOptions options_{.linger = std::chrono::seconds(60),
                                 .max_series = 100,
                                 .stall_bounds = {std::chrono::seconds(1), std::chrono::seconds(10),
                                                  std::chrono::seconds(60)}};
  CgroupDirectory cgroups_{tree_.root()};
  Pipeline pipeline_{kernel_, cgroups_, clock_, options_};
};

}  // namespace offcpud
