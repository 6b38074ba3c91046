// SPDX-License-Identifier: Apache-2.0
#include "metrics/exposition.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "pipeline/reading_source.h"

namespace offcpud {
namespace {

// Whether it says whom or what units wait on: only for those who may see details.
constexpr bool is_detail(Metric metric) {
  return metric == Metric::WaitedOnSeconds || metric == Metric::StallsWaitingOn;
}

// Whole seconds as "60s", others as "250ms": one spelling for each duration, however it was
// configured.
std::vector<std::string> texts_of(const std::vector<std::chrono::milliseconds>& bounds) {
  std::vector<std::string> texts;
  texts.reserve(bounds.size());
  for (const std::chrono::milliseconds bound : bounds) {
    const auto ms = bound.count();
    texts.push_back(ms % 1000 == 0 ? std::to_string(ms / 1000) + "s" : std::to_string(ms) + "ms");
  }
  return texts;
}

// In a fixed order, while the View sorts by waits, which change. Each pid once: processes outside
// of the daemon's PID namespace have pid 0 and are left out; of two processes that had the same
// pid, the later one is kept.
std::vector<const ProcessRow*> exported_by_pid(const std::vector<ProcessRow>& rows) {
  std::vector<const ProcessRow*> exported;
  for (const ProcessRow& row : rows) {
    if (row.exported && row.pid != 0) exported.push_back(&row);
  }
  std::sort(exported.begin(), exported.end(), [](const ProcessRow* a, const ProcessRow* b) {
    return a->pid != b->pid ? a->pid < b->pid : a->start_ns > b->start_ns;
  });
  const auto same_pid = [](const ProcessRow* a, const ProcessRow* b) { return a->pid == b->pid; };
  exported.erase(std::unique(exported.begin(), exported.end(), same_pid), exported.end());
  return exported;
}

}  // namespace

Exposition::Exposition(std::shared_ptr<const View> view, std::unique_ptr<SeriesWriter> writer,
                       std::function<void(SeriesWriter&)> self_metrics, bool with_details)
    : view_(std::move(view)),
      processes_(exported_by_pid(view_->processes)),
      over_(texts_of(view_->stall_bounds)),
      out_(std::move(writer)),
      self_metrics_(std::move(self_metrics)),
      with_details_(with_details) {}

std::size_t Exposition::read(std::span<char> buffer) {
  std::size_t written = 0;
  while (written < buffer.size()) {
    if (position_ == out_->bytes().size() && !refill()) break;
    const std::size_t n = std::min(buffer.size() - written, out_->bytes().size() - position_);
    out_->bytes().copy(buffer.data() + written, n, position_);
    position_ += n;
    written += n;
  }
  return written;
}

bool Exposition::refill() {
  out_->bytes().clear();
  position_ = 0;
  while (out_->bytes().empty() && part_ != Part::End) append_next();
  return !out_->bytes().empty();
}

void Exposition::append_next() {
  switch (part_) {
    case Part::Subjects:
      return append_step(subject_families(), view_->subjects.size(), [this](std::size_t row) {
        return SubjectRow{view_->subjects[row], over_, view_->tells_wakers};
      });
    case Part::Processes:
      return append_step(process_families(), processes_.size(),
                         [this](std::size_t row) -> const ProcessRow& { return *processes_[row]; });
    case Part::Totals:
      append_totals();
      return next_part();
    case Part::SelfMetrics:
      if (self_metrics_) self_metrics_(*out_);
      return next_part();
    case Part::End:
      return;
  }
}

void Exposition::next_part() {
  part_ = static_cast<Part>(static_cast<int>(part_) + 1);
  family_ = 0;
  row_ = 0;
  step_ = 0;
}

template <typename Row, typename RowAt>
void Exposition::append_step(std::span<const RowFamily<Row>> families, std::size_t rows,
                             const RowAt& row_at) {
  if (family_ == families.size()) return next_part();
  const RowFamily<Row>& family = families[family_];
  if (!with_details_ && is_detail(family.metric)) {
    ++family_;
    return;
  }
  if (!std::exchange(family_begun_, true)) out_->begin_family(family.metric);
  if (row_ == rows) {
    row_ = 0;
    if (out_->end_family()) return;
    ++family_;
    family_begun_ = false;
    return;
  }
  const Row& row = row_at(row_);
  if (step_ == 0) share_labels(*out_, row);
  family.append(*out_, row, step_);
  if (++step_ == family.steps) {
    step_ = 0;
    ++row_;
  }
}

template <typename Write>
void Exposition::append_family(Metric metric, const Write& write) {
  out_->begin_family(metric);
  do {
    write(*out_);
  } while (out_->end_family());
}

// A pair of a disk and a cgroup is a row.
void Exposition::append_disk_loads() {
  if (!view_->disk_loads) return;
  const auto append = [&](Metric metric, const auto& write) {
    append_family(metric, [&](SeriesWriter& out) {
      for (const DiskLoadRow& row : *view_->disk_loads) {
        share_labels(out, *row.by);
        write(out, row);
      }
    });
  };
  const auto by_operation = [](auto amounts) {
    return [amounts](SeriesWriter& out, const DiskLoadRow& row) {
      for (std::size_t i = 0; i < kDiskOperations.size(); ++i) {
        out.number({{"device", row.disk}, {"operation", kDiskOperations[i]}},
                   (row.load.*amounts)[i]);
      }
    };
  };
  append(Metric::DiskBytes, by_operation(&DiskLoad::bytes));
  append(Metric::DiskRequests, by_operation(&DiskLoad::requests));
  if (!view_->times_disk_requests) return;
  append(Metric::DiskRequestSeconds, [](SeriesWriter& out, const DiskLoadRow& row) {
    out.seconds({{"device", row.disk}}, row.load.request_ns);
  });
}

void Exposition::append_totals() {
  append_disk_loads();
  append_family(Metric::LostEvents, [this](SeriesWriter& out) {
    for (const LossCount& loss : view_->losses) out.number({{"cause", loss.cause}}, loss.events);
  });
  append_family(Metric::WaitLostSeconds,
                [this](SeriesWriter& out) { out.seconds({}, view_->lost_wait_ns); });
  if (view_->tells_unusual) append_total(Metric::UnusualWaits, view_->unusual.size());
  append_total(Metric::ThreadsLeftCensored, view_->left_censored);
  if (view_->running_deviation_ratio) {
    append_family(Metric::RunningDeviationRatio,
                  [this](SeriesWriter& out) { out.real({}, *view_->running_deviation_ratio); });
  }
  if (view_->walk) append_total(Metric::ThreadWalkPasses, view_->walk->passes);
  append_family(Metric::MapEntries, [this](SeriesWriter& out) {
    for (const MapUsage& usage : view_->maps) out.number({{"map", usage.map}}, usage.entries);
  });
  append_family(Metric::MapCapacity, [this](SeriesWriter& out) {
    for (const MapUsage& usage : view_->maps) out.number({{"map", usage.map}}, usage.capacity);
  });
  append_total(Metric::Series, view_->histogram_series);
  append_total(Metric::SeriesFolded, view_->folded_series);
  append_total(Metric::ProcessesRefused, view_->refused_processes);
  append_family_series();
  append_last_pass();
}

// Comes after all families that it counts, so the writer has their numbers.
void Exposition::append_family_series() {
  append_family(Metric::FamilySeries, [](SeriesWriter& out) {
    const auto append = [&out](const auto& families) {
      for (const auto& family : families) {
        out.number({{"family", metric_def(family.metric).name}}, out.series_of(family.metric));
      }
    };
    append(subject_families());
    append(process_families());
  });
}

void Exposition::append_last_pass() {
  const std::chrono::nanoseconds since_epoch = view_->taken_wall.time_since_epoch();
  append_family(Metric::LastPassTimestamp, [&](SeriesWriter& out) {
    out.seconds({}, static_cast<std::uint64_t>(std::max<std::int64_t>(since_epoch.count(), 0)));
  });
}

void Exposition::append_total(Metric metric, std::uint64_t value) {
  append_family(metric, [value](SeriesWriter& out) { out.number({}, value); });
}

}  // namespace offcpud
