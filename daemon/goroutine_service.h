// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <utility>

#include "base/clock.h"
#include "golang/goroutine_report.h"
#include "reader/reader_client.h"

namespace offcpud {

// Reads goroutines of processes with a reader process of its own, which lives as long as one report
// takes.
class GoroutineService final : public GoroutineSource {
 public:
  // Null: the daemon is stopping.
  using Readers = std::function<std::shared_ptr<ReaderShare>()>;

  // `clock` must outlive the object.
  GoroutineService(const Clock& clock, Readers readers)
      : clock_(clock), readers_(std::move(readers)) {}

  Result<GoroutineReport> goroutines_of(std::uint32_t pid, std::size_t groups,
                                        const std::stop_token& stop) override;

 private:
  const Clock& clock_;
  const Readers readers_;
};

}  // namespace offcpud
