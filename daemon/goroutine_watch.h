// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "base/clock.h"
#include "base/goroutine_totals.h"
#include "base/heartbeat.h"
#include "config/config.h"
#include "goroutines/goroutine_sampler.h"
#include "pipeline/goroutine_window.h"
#include "pipeline/view.h"
#include "reader/reader_client.h"
#include "sites/site_rules_board.h"

namespace offcpud {

GoroutineOptions goroutine_options(const Config& config);

// Looks at the goroutines of all Go programs on a thread of its own, with a reader process of its
// own.
class GoroutineWatch {
 public:
  // What is not owned must outlive the object. The functions are called on the thread.
  struct Parts {
    const Clock& clock;
    std::shared_ptr<const SiteRulesBoard> sites;
    std::shared_ptr<ReaderShare> readers;  // null: the daemon is stopping
    std::shared_ptr<Heartbeat> heartbeat;
    std::function<std::shared_ptr<const View>()> view;
    std::function<void(std::shared_ptr<const GoroutineWindow>)> window;
    std::function<void(const GoroutineTotals&)> totals;
  };
  GoroutineWatch(Parts parts, const GoroutineOptions& options);
  // Waits for the look in progress.
  ~GoroutineWatch() = default;
  GoroutineWatch(const GoroutineWatch&) = delete;
  GoroutineWatch& operator=(const GoroutineWatch&) = delete;

  void apply(const GoroutineOptions& options);
  // Ends after the look in progress. False: that has not ended within `patience`.
  [[nodiscard]] bool finish(std::chrono::milliseconds patience);

 private:
  void run(const std::stop_token& stop);

  Parts parts_;  // used by the thread alone
  const GoroutineOptions first_options_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<GoroutineOptions> new_options_;
  bool ended_ = false;
  std::jthread thread_;  // last: it uses the members above
};

}  // namespace offcpud
