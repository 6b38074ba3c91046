// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/heartbeat.h"
#include "push/push_backoff.h"
#include "push/push_client.h"
#include "push/push_queue.h"
#include "push/push_target.h"
#include "snapshot/push_outcome.h"
#include "snapshot/snapshot.h"

namespace offcpud {

// Called by any thread; must not call back.
struct PushReports {
  std::function<void(PushResult result, WallTime at)> ended;
  std::function<void(PushFailure cause)> failed;  // one attempt
  std::function<void(std::uint64_t bytes)> queued;
};

struct PushState {
  std::string url;  // empty: nothing is sent
  std::size_t queued = 0;
  std::uint64_t queued_bytes = 0;
  std::optional<WallTime> last_success;
  std::string last_error;  // empty when the last attempt was successful
};

// Sends snapshots to a server, on a thread of its own that has no capability. Who submits waits for
// no network; what cannot be sent waits in memory, bounded, and is lost when the daemon ends.
class SnapshotPush {
 public:
  // A profile is given up when the server had it so often and did not take it: the next one goes.
  static constexpr unsigned kMostAttempts = 10;

  // `clock` outlives the object. Starts no thread before there is a target.
  SnapshotPush(const Clock& clock, PushReports reports,
               std::shared_ptr<Heartbeat> heartbeat = nullptr);
  // With another client and shorter waits: for tests.
  SnapshotPush(const Clock& clock, PushReports reports, std::unique_ptr<PushClient> client,
               std::chrono::milliseconds first_wait,
               std::shared_ptr<Heartbeat> heartbeat = nullptr);
  // As finish(0), and waits for the thread.
  ~SnapshotPush();
  SnapshotPush(const SnapshotPush&) = delete;
  SnapshotPush& operator=(const SnapshotPush&) = delete;

  // From now on sends there; what waits goes there, too, and at once. nullopt: to nobody, and what
  // waits is dropped. By one thread, the one that calls finish().
  void apply(const std::optional<PushTarget>& target, std::uint64_t most_bytes);

  // Takes the time of making a profile, if there is a target. Thread-safe.
  void submit(Snapshot snapshot);

  [[nodiscard]] PushState state() const;

  // Gives what waits so much time to be sent, but none when the last attempt failed, and ends the
  // thread. False: it hangs; then the process must end without destroying this object.
  [[nodiscard]] bool finish(std::chrono::milliseconds patience);

 private:
  void run();
  void settle(const IngestOutcome& outcome, const PushTarget& asked);
  void dropped(std::size_t count);
  void keep_for_later();
  void put_off(const IngestOutcome& outcome);
  void give_up(const std::string& why);

  const Clock& clock_;
  const PushReports reports_;
  const std::shared_ptr<Heartbeat> heartbeat_;  // may be null
  std::unique_ptr<PushClient> client_;          // null before there is a thread

  mutable std::mutex mutex_;  // of all below but the thread
  std::condition_variable changed_;
  std::optional<PushTarget> target_;
  PushQueue queue_{0};
  PushBackoff backoff_;
  MonotonicTime not_before_{};  // the next attempt
  std::optional<WallTime> last_success_;
  std::string last_error_;
  bool sending_ = false;
  bool stopping_ = false;
  bool ended_ = true;  // there is no thread
  std::thread thread_;
};

}  // namespace offcpud
