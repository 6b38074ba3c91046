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

// Called on any thread; must not call SnapshotPush.
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
  std::string last_error;  // empty: the last attempt was successful
};

// Sends snapshots to a server, on its own thread without capabilities. Submitting never waits for
// the network. Unsent profiles wait in memory, within a limit, and are lost when the daemon ends.
class SnapshotPush {
 public:
  // A profile is given up when the server received it this often without accepting it.
  static constexpr unsigned kMostAttempts = 10;

  // `clock` must outlive the object. The thread starts when there is a target.
  SnapshotPush(const Clock& clock, PushReports reports,
               std::shared_ptr<Heartbeat> heartbeat = nullptr);
  // For tests: with another client and shorter waits.
  SnapshotPush(const Clock& clock, PushReports reports, std::unique_ptr<PushClient> client,
               std::chrono::milliseconds first_wait,
               std::shared_ptr<Heartbeat> heartbeat = nullptr);
  // Like finish(0), but waits for the thread.
  ~SnapshotPush();
  SnapshotPush(const SnapshotPush&) = delete;
  SnapshotPush& operator=(const SnapshotPush&) = delete;

  // Sends profiles to this target from now on; those that wait are sent at once. nullopt: sends
  // nothing and drops what is waiting. Call it on the thread that calls finish().
  void apply(const std::optional<PushTarget>& target, std::uint64_t most_bytes);

  // Makes the profile if there is a target; this takes a while. Thread-safe.
  void submit(Snapshot snapshot);

  [[nodiscard]] PushState state() const;

  // Gives waiting profiles this time to be sent (none if the last attempt failed) and ends the
  // thread. False: the thread hangs; then the process must end without destroying this object.
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
  std::unique_ptr<PushClient> client_;          // null until there is a thread

  mutable std::mutex mutex_;  // guards everything below except the thread
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
