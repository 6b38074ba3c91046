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

#include "api/snapshot_handlers.h"
#include "base/clock.h"
#include "base/thread_watch.h"
#include "config/config.h"
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

// Everything about snapshots: samples, names and writes them, and answers who asks for them. Owned
// by the daemon's thread, which alone knows the paths of cgroups.
class SnapshotService final : public SnapshotSource {
 public:
  // Called on the daemon's thread: the path of a cgroup, and the episodes of a snapshot, once its
  // file is there.
  struct Callbacks {
    std::function<std::string(std::uint64_t cgroup_id)> path_of;
    std::function<void(std::vector<FoundExemplar> found)> exemplars;
  };

  // Starts the threads that need more capabilities than the daemon keeps: to be called before it
  // gives them up. All that is passed must outlive the object.
  static Result<std::unique_ptr<SnapshotService>> start(
      const BpfSession& session, const Config& config, const Clock& clock, EventLoop& loop,
      SelfMetrics& metrics, ThreadWatch& threads, ReaderSpawner& spawner, Callbacks callbacks);
  ~SnapshotService() override;

  // Meets the files that are kept, and starts the threads that write and answer: after the
  // capabilities are given up. Comes before everything below.
  void open();

  void apply(const Config& config);

  // Ends sampling and writes what there is, for so long at most. False: a disk or a process does
  // not answer. Then a thread is stuck, and the daemon must end without destroying this object.
  [[nodiscard]] bool stop(std::chrono::milliseconds patience);

  // By any thread, after open().
  [[nodiscard]] PushState push_state() const { return serving_->push.state(); }

  [[nodiscard]] std::vector<OverShareStatus> over_share() const { return over_share_.current(); }

  [[nodiscard]] const SnapshotHandlers& handlers() const { return serving_->handlers; }

  void take_next(std::chrono::milliseconds length, const BlockFilter& filter,
                 std::function<void(Result<Snapshot>)> done) override;

 private:
  using Use = std::function<void(SnapshotDraft)>;  // with paths, on the daemon's thread

  SnapshotService(const Config& config, const Clock& clock, EventLoop& loop, SelfMetrics& metrics,
                  ThreadWatch& threads, Callbacks callbacks);
  SnapshotReports store_reports();
  SamplerReports sampler_reports();
  PushReports push_reports();
  ReaderReports reader_reports();
  void tell_left_behind(std::size_t readers);
  void complete_all();
  void keep(SnapshotDraft draft);

  SelfMetrics& metrics_;
  EventLoop& loop_;
  ThreadWatch& threads_;
  Callbacks callbacks_;
  SnapshotStore store_;
  struct Serving {
    Serving(SnapshotService& service, const Clock& clock);
    SnapshotPush push;  // before the writer, whose thread submits to it
    SnapshotWriter writer;
    RequestWorker requests;
    SnapshotHandlers handlers;
  };
  const Clock& clock_;
  OverShareBoard over_share_;
  std::optional<Serving> serving_;

  // What the naming thread hands over. It may outlive this object: then nobody takes it.
  struct Mailbox {
    std::mutex mutex;
    std::vector<std::pair<SnapshotDraft, Use>> drafts;
    std::function<void()> wake;  // empty: stopped
  };
  static void hand_over(Mailbox& mailbox, SnapshotDraft draft, Use use);
  std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();

  std::mutex sampler_mutex_;               // HTTP threads ask while this one stops
  std::unique_ptr<StackSampler> sampler_;  // last: its threads use what is above
};

}  // namespace offcpud
