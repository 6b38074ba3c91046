// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "metrics/metric_catalog.h"
#include "metrics/row_families.h"
#include "metrics/series_writer.h"
#include "pipeline/view.h"

namespace offcpud {

// One scrape in the format of a writer, produced piece by piece: only one series at a time is in
// memory as bytes, whatever the size of the View. Families, series and labels have a fixed order.
// Used by one thread at a time.
class Exposition {
 public:
  // `self_metrics` writes complete families that the View does not have; they come last, and it is
  // called only when read() gets there. Without details no family says whom or what units wait on.
  Exposition(std::shared_ptr<const View> view, std::unique_ptr<SeriesWriter> writer,
             std::function<void(SeriesWriter&)> self_metrics, bool with_details = true);

  // Fills the buffer and returns the number of bytes; less than its size only at the end, then 0.
  std::size_t read(std::span<char> buffer);

  // Has the counts of what was read so far.
  [[nodiscard]] const SeriesWriter& writer() const { return *out_; }

 private:
  enum class Part { Subjects, Processes, Totals, SelfMetrics, End };

  bool refill();
  void append_next();
  void next_part();
  template <typename Row, typename RowAt>
  void append_step(std::span<const RowFamily<Row>> families, std::size_t rows, const RowAt& row_at);
  void append_disk_loads();
  void append_totals();
  void append_family_series();
  void append_last_pass();
  void append_total(Metric metric, std::uint64_t value);
  template <typename Write>
  void append_family(Metric metric, const Write& write);

  std::shared_ptr<const View> view_;
  std::vector<const ProcessRow*> processes_;  // the exported ones of view_, by pid
  std::vector<std::string> over_;             // one label value for each stall bound of the View
  std::unique_ptr<SeriesWriter> out_;
  std::function<void(SeriesWriter&)> self_metrics_;
  bool with_details_;

  Part part_ = Part::Subjects;
  std::size_t family_ = 0;  // index in this part
  std::size_t row_ = 0;
  std::size_t step_ = 0;
  bool family_begun_ = false;

  std::size_t position_ = 0;  // bytes of out_ that were read
};

}  // namespace offcpud
