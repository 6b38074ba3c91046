// SPDX-License-Identifier: Apache-2.0
#include "export/request_worker.h"

#include <exception>
#include <memory>
#include <utility>

namespace offcpud {
namespace {

Response error(unsigned status, const char* json) {
  return {.status = status, .content_type = "application/json", .body = std::string(json)};
}

Response made_or_500(const Later::Make& make) {
  try {
    return make();
  } catch (const std::exception&) {
    return error(500, "{\"error\": \"the request failed inside the daemon\"}\n");
  }
}

}  // namespace

RequestWorker::RequestWorker() : thread_([this](const std::stop_token& stop) { run(stop); }) {}

Response RequestWorker::respond(Later::Make make) {
  {
    const std::lock_guard lock(mutex_);
    if (jobs_.size() >= kMostWaiting) {
      return error(503,
                   "{\"error\": \"too many such requests wait already; try again shortly\"}\n");
    }
  }
  const auto start = [this, make = std::move(make)](Later::Done done) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back({make, std::move(done)});
    }
    changed_.notify_one();
  };
  return {.body = Later{start}};
}

void RequestWorker::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !jobs_.empty(); }) && !stop.stop_requested()) {
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    auto response = std::make_shared<Response>(made_or_500(job.make));
    job.done([response] { return std::move(*response); });
    job = {};  // frees what it holds before the next wait
    lock.lock();
  }
}

}  // namespace offcpud
