// SPDX-License-Identifier: Apache-2.0
#include "push/snapshot_push.h"

#include <random>

#include "base/duration_text.h"
#include "base/thread_start.h"
#include "push/ingest_client.h"
#include "push/pushed_profile.h"
#include "runtime/logging.h"
#include "runtime/privileges.h"

namespace offcpud {
namespace {

// How long ending may take: the thread finishes its piece of work, which is interrupted if it
// waits.
constexpr std::chrono::milliseconds kEnding{300};

std::uint64_t random_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32U) | device();
}

}  // namespace

SnapshotPush::SnapshotPush(const Clock& clock, PushReports reports,
                           std::shared_ptr<Heartbeat> heartbeat)
    : SnapshotPush(clock, std::move(reports), nullptr, PushBackoff::kFirst, std::move(heartbeat)) {}

SnapshotPush::SnapshotPush(const Clock& clock, PushReports reports,
                           std::unique_ptr<PushClient> client, std::chrono::milliseconds first_wait,
                           std::shared_ptr<Heartbeat> heartbeat)
    : clock_(clock),
      reports_(std::move(reports)),
      heartbeat_(std::move(heartbeat)),
      client_(std::move(client)),
      backoff_(random_seed(), first_wait) {}

SnapshotPush::~SnapshotPush() {
  (void)finish(std::chrono::milliseconds(0));
  if (thread_.joinable()) thread_.join();
}

void SnapshotPush::apply(const std::optional<PushTarget>& target, std::uint64_t most_bytes) {
  {
    const std::lock_guard lock(mutex_);
    std::size_t lost = queue_.set_most_bytes(most_bytes);
    if (!target) lost += queue_.clear();
    dropped(lost);
    if (target == target_) return;
    target_ = target;
    last_error_.clear();
    backoff_.reset();
    queue_.forget_attempts();
    not_before_ = {};
    if (sending_) client_->interrupt();
    if (!target) return;
    log_info("snapshots are pushed to " + target->url + " as " + target->series);
  }
  changed_.notify_all();
  if (thread_.joinable()) return;
  if (!client_) client_ = std::make_unique<IngestClient>();
  ended_ = false;
  thread_ = start_thread("offcpud-push", [this] { run(); });
}

void SnapshotPush::submit(Snapshot snapshot) {
  {
    const std::lock_guard lock(mutex_);
    if (!target_) return;
  }
  auto profile = pushed_profile(std::move(snapshot));
  if (!profile) {
    log_warning_limited("push profile", "a snapshot is not pushed: " + profile.error().message());
  }
  {
    const std::lock_guard lock(mutex_);
    dropped(profile && target_ ? queue_.push(*std::move(profile)) : 1);
  }
  changed_.notify_all();
}

PushState SnapshotPush::state() const {
  const std::lock_guard lock(mutex_);
  return {.url = target_ ? target_->url : "",
          .queued = queue_.size(),
          .queued_bytes = queue_.bytes(),
          .last_success = last_success_,
          .last_error = last_error_};
}

bool SnapshotPush::finish(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (!ended_) {
    changed_.wait_for(lock, patience, [this] { return queue_.empty() || !last_error_.empty(); });
  }
  stopping_ = true;
  if (client_) client_->interrupt();
  changed_.notify_all();
  const bool done = changed_.wait_for(lock, kEnding, [this] { return ended_; });
  dropped(queue_.clear());
  lock.unlock();
  if (done && thread_.joinable()) thread_.join();
  return done;
}

// Call it with the lock held.
void SnapshotPush::dropped(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) reports_.ended(PushResult::Dropped, clock_.wall());
  reports_.queued(queue_.bytes());
}

void SnapshotPush::run() {
  // The server's answer is the only outside input that the daemon reads on its own initiative.
  const Status unprivileged = drop_capabilities({});
  std::unique_lock lock(mutex_);
  if (!unprivileged) {
    last_error_ = unprivileged.error().message();
    log_error("snapshots are not pushed: " + last_error_);
    stopping_ = true;
  }
  while (!stopping_) {
    if (!target_ || queue_.empty()) {
      changed_.wait(lock);
    } else if (clock_.now() < not_before_) {
      changed_.wait_until(lock, not_before_);
    } else {
      const PushTarget target = *target_;
      const auto item = queue_.begin_sending();
      sending_ = true;
      client_->rearm();
      lock.unlock();
      const IngestOutcome outcome = [&] {
        const PieceOfWork piece(heartbeat_, "pushing a snapshot", target.url);
        return client_->send(target, *item);
      }();
      lock.lock();
      sending_ = false;
      settle(outcome, target);
      changed_.notify_all();
    }
  }
  ended_ = true;
  changed_.notify_all();
}

// Call it with the lock held.
void SnapshotPush::settle(const IngestOutcome& outcome, const PushTarget& asked) {
  // The answer of a former target says nothing about the present one.
  if (target_ != asked && outcome.kind != IngestOutcome::Kind::Accepted) return keep_for_later();
  switch (outcome.kind) {
    case IngestOutcome::Kind::Interrupted:
      return keep_for_later();
    case IngestOutcome::Kind::TryAgain:
      return put_off(outcome);
    case IngestOutcome::Kind::Accepted:
      if (!last_error_.empty()) log_info("snapshots are pushed again");
      last_error_.clear();
      last_success_ = clock_.wall();
      reports_.ended(PushResult::Sent, *last_success_);
      break;
    case IngestOutcome::Kind::Refused:
      reports_.failed(outcome.cause);
      last_error_ = outcome.sentence;
      backoff_.reset();
      return give_up("is refused and given up: " + outcome.sentence);
  }
  backoff_.reset();
  queue_.remove_sent();
  reports_.queued(queue_.bytes());
}

void SnapshotPush::give_up(const std::string& why) {
  reports_.ended(PushResult::Rejected, clock_.wall());
  queue_.remove_sent();
  reports_.queued(queue_.bytes());
  log_warning_limited("push refused", "a pushed snapshot " + why);
}

// Keeps the profile for another attempt, unless pushing was turned off meanwhile.
void SnapshotPush::keep_for_later() {
  const std::size_t lost = queue_.keep_unsent();
  dropped(target_ ? lost : lost + queue_.clear());
}

// Giving up one profile does not shorten the wait: usually the server has the problem.
void SnapshotPush::put_off(const IngestOutcome& outcome) {
  reports_.failed(outcome.cause);
  last_error_ = outcome.sentence;
  const auto wait = backoff_.next(outcome.retry_after);
  not_before_ = clock_.now() + wait;
  if (outcome.may_be_the_profile && queue_.count_attempt() >= kMostAttempts) {
    return give_up("is given up after " + std::to_string(kMostAttempts) +
                   " attempts: " + outcome.sentence);
  }
  keep_for_later();
  log_warning_limited("push", "snapshots cannot be pushed: " + outcome.sentence + "; " +
                                  std::to_string(queue_.size()) + " wait, next attempt in " +
                                  duration_text(wait));
}

}  // namespace offcpud
