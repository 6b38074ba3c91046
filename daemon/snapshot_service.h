// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/changes_handler.h"
#include "api/goroutines_handler.h"
#include "api/known_units.h"
#include "api/routes.h"
#include "api/snapshot_handlers.h"
#include "base/clock.h"
#include "base/thread_watch.h"
#include "config/config.h"
#include "goroutine_service.h"
#include "goroutine_watch.h"
#include "http/request_worker.h"
#include "metrics/self_metrics.h"
#include "over_share_board.h"
#include "pipeline/exemplar_book.h"
#include "push/snapshot_push.h"
#include "runtime/event_loop.h"
#include "sampler/stack_sampler.h"
#include "snapshot/snapshot_store.h"
#include "snapshot/snapshot_writer.h"
#include "stacks/snapshot_source.h"

namespace offcpud {

// Takes snapshots, names and writes them, and answers requests for them. Owned by the daemon's
// thread.
class SnapshotService final : public SnapshotSource {
 public:
  // Called on the daemon's thread.
  struct Takers {
    // Gets the episodes of a snapshot, once its file is written.
    std::function<void(std::vector<FoundExemplar> found)> exemplars;
    // Gets what threads waited for, every few seconds.
    std::function<void(std::shared_ptr<const WaitWindow> window)> waits;
    // Gets what goroutines waited for, every few seconds.
    std::function<void(std::shared_ptr<const GoroutineWindow> window)> goroutines;
    std::function<std::shared_ptr<const View>()> view;  // the last one; called by any thread
  };

  // Starts the threads that need more capabilities than the daemon keeps, so call it before the
  // daemon drops them. All arguments must outlive the object.
  static Result<std::unique_ptr<SnapshotService>> start(const SamplerInputs& inputs,
                                                        const Config& config, EventLoop& loop,
                                                        SelfMetrics& metrics, ThreadWatch& threads,
                                                        Takers takers);
  ~SnapshotService() override;

  // Lists the kept files and starts the threads that write and answer. Call it after capabilities
  // are dropped, and before the functions below. `is_live`: see check_cgroup().
  void open(IsLiveCgroup is_live);

  void apply(const Config& config);

  // Ends sampling and writes the last snapshot, within `patience`. False: a thread is stuck because
  // a disk or a process does not answer; then the daemon must end without destroying this object.
  [[nodiscard]] bool stop(std::chrono::milliseconds patience);

  // Any thread may call it after open().
  [[nodiscard]] PushState push_state() const { return serving_->push.state(); }

  [[nodiscard]] std::vector<OverShareStatus> over_share() const { return over_share_.current(); }

  // Sets what this object answers. Call it after open().
  void add_to(RouteSources& sources) const;

  void take_next(std::chrono::milliseconds length, const BlockFilter& filter,
                 std::function<void(Result<Snapshot>)> done) override;

 private:
  SnapshotService(const Config& config, const SamplerInputs& inputs, EventLoop& loop,
                  SelfMetrics& metrics, ThreadWatch& threads, Takers takers);
  GoroutineWatch::Parts goroutine_parts();
  SnapshotReports store_reports();
  SamplerReports sampler_reports();
  PushReports push_reports();
  ReaderReports reader_reports();
  void tell_left_behind(std::size_t readers);
  [[nodiscard]] std::shared_ptr<ReaderShare> readers();
  void write(SampledSnapshot sampled);
  void tell(std::shared_ptr<const WaitWindow> window);

  SelfMetrics& metrics_;
  EventLoop& loop_;
  ThreadWatch& threads_;
  Takers takers_;
  SnapshotStore store_;
  struct Serving {
    Serving(SnapshotService& service, const Clock& clock, IsLiveCgroup is_live);
    SnapshotPush push;  // before the writer, whose thread submits to it
    SnapshotWriter writer;
    RequestWorker requests;
    SnapshotHandlers handlers;
    ChangesHandler changes;
    GoroutineService goroutine_source;
    RequestWorker goroutine_requests;  // of their own: each takes a second
    GoroutinesHandler goroutines;
    GoroutineWatch goroutine_watch;
  };
  const Clock& clock_;
  const std::shared_ptr<const SiteRulesBoard> sites_;
  GoroutineOptions goroutine_options_;  // until open()
  OverShareBoard over_share_;
  std::optional<Serving> serving_;

  // Where the symbols thread leaves finished snapshots. Shared, because that thread may outlive
  // this object.
  struct Inbox {
    void put(SampledSnapshot sampled);
    void put(std::shared_ptr<const WaitWindow> window);

    std::mutex mutex;
    SnapshotService* service = nullptr;  // null: not open yet, or stopped
    // Taken before open().
    std::vector<SampledSnapshot> early;
    std::vector<std::shared_ptr<const WaitWindow>> early_waits;
  };
  std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();

  std::mutex sampler_mutex_;               // HTTP threads use sampler_ while this thread stops it
  std::unique_ptr<StackSampler> sampler_;  // last: its threads use the members above
};

}  // namespace offcpud
