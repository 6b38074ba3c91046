// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <string>

#include "metrics/series_writer.h"
#include "pipeline/exemplar.h"
#include "snapshot/stack_id.h"

namespace offcpud {

// The labels of an exemplar: `stack`, as /api/v1/snapshots accepts it, and `pid`, which is left out
// if the process is not in the daemon's PID namespace.
class ExemplarLabels {
 public:
  explicit ExemplarLabels(const Exemplar& exemplar)
      : pid_(std::to_string(exemplar.pid)),
        stack_(stack_id_text(exemplar.stack)),
        labels_{{{"stack", stack_}, {"pid", pid_}}},
        count_(exemplar.pid == 0 ? 1 : 2) {}
  ExemplarLabels(const ExemplarLabels&) = delete;  // the labels refer to the object
  ExemplarLabels& operator=(const ExemplarLabels&) = delete;

  [[nodiscard]] std::span<const Label> labels() const { return std::span(labels_).first(count_); }

 private:
  std::string pid_, stack_;
  std::array<Label, 2> labels_;
  std::size_t count_;
};

}  // namespace offcpud
