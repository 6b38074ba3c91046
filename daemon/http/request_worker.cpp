// SPDX-License-Identifier: Apache-2.0
#include "http/request_worker.h"

#include <exception>
#include <memory>
#include <utility>

#include "base/thread_start.h"

namespace offcpud {
namespace {

Response error(unsigned status, const char* json) {
  return {.status = status, .content_type = "application/json", .body = std::string(json)};
}

Response refusal() {
  return error(503, "{\"error\": \"too many such requests wait already; try again shortly\"}\n");
}

Response stopping() {
  return error(503, "{\"error\": \"offcpud is stopping\"}\n");
}

Response made_or_500(const RequestWorker::Work& work, const std::stop_token& stop) {
  try {
    return work(stop);
  } catch (const std::exception&) {
    return error(500, "{\"error\": \"the request failed inside the daemon\"}\n");
  }
}

}  // namespace

RequestWorker::RequestWorker(std::shared_ptr<Heartbeat> heartbeat)
    : heartbeat_(std::move(heartbeat)),
      thread_(start_thread("offcpud-request",
                           [this](const std::stop_token& ending) { run(ending); })) {}

RequestWorker::~RequestWorker() {
  (void)finish(std::chrono::milliseconds(0));
}

Response RequestWorker::respond(Work work) {
  {
    const std::lock_guard lock(mutex_);
    if (cancelled_.stop_requested()) return stopping();
    if (jobs_.size() >= kMostWaiting) return refusal();
  }
  const auto start = [this, work = std::move(work)](Later::Done done) {
    const std::lock_guard lock(mutex_);
    if (cancelled_.stop_requested()) return done(&stopping);
    jobs_.push_back({work, std::move(done)});
    changed_.notify_all();
  };
  return {.body = Later{start}};
}

void RequestWorker::answer(Later::Make make, Later::Done done) {
  const std::lock_guard lock(mutex_);
  answers_.push_back(
      {[make = std::move(make)](const std::stop_token&) { return make(); }, std::move(done)});
  changed_.notify_all();
}

bool RequestWorker::finish(std::chrono::milliseconds patience) {
  cancelled_.request_stop();
  std::deque<Job> dropped;  // destroyed without the lock, as that answers requests
  {
    const std::lock_guard lock(mutex_);
    dropped.swap(jobs_);
  }
  dropped.clear();
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [this] { return answers_.empty() && !busy_; });
}

void RequestWorker::perform(const Job& job) {
  const PieceOfWork piece(heartbeat_, "answering a request for stacks");
  auto response = std::make_shared<Response>(made_or_500(job.work, cancelled_.get_token()));
  job.done([response] { return std::move(*response); });
}

void RequestWorker::run(const std::stop_token& ending) {
  const auto has_work = [this] { return !answers_.empty() || !jobs_.empty(); };
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, ending, has_work) && !ending.stop_requested()) {
    std::deque<Job>& next = answers_.empty() ? jobs_ : answers_;
    Job job = std::move(next.front());
    next.pop_front();
    busy_ = true;
    lock.unlock();
    perform(job);
    job = {};  // frees what it holds before the next wait
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace offcpud
