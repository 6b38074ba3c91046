// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>

#include "base/heartbeat.h"
#include "base/worker.h"
#include "http/http_message.h"

namespace offcpud {

// Makes answers that take long, such as the sum of a day of snapshots, one at a time on its own
// thread. They delay each other but no scrape, and only one needs memory at a time. Thread-safe.
class RequestWorker {
 public:
  static constexpr std::size_t kMostWaiting = 8;

  // Makes an answer in steps. Once `stop` is requested, the rest is not needed: no further step is
  // started.
  using Work = std::function<Response(const std::stop_token& stop)>;

  // Literals: of the thread, and of what it does when it hangs.
  struct Names {
    const char* thread = "offcpud-request";
    const char* work = "answering a request for stacks";
  };

  explicit RequestWorker(const std::shared_ptr<Heartbeat>& heartbeat = nullptr)
      : RequestWorker(heartbeat, Names{}) {}
  RequestWorker(const std::shared_ptr<Heartbeat>& heartbeat, const Names& names);
  // Like finish(0), but waits for the step in progress.
  ~RequestWorker();
  RequestWorker(const RequestWorker&) = delete;
  RequestWorker& operator=(const RequestWorker&) = delete;

  // A response that `work` makes on the worker's thread, or status 503 if kMostWaiting are waiting.
  // An exception becomes status 500. Must not be called by the worker's own responses.
  Response respond(Work work);

  // Makes a response for a client that is already waiting, and passes it to `done`. Callers bound
  // how many there are. Comes before the work of respond(), as only the formatting is left.
  void answer(Later::Make make, Later::Done done);

  // Cancels respond(): the work in progress ends after its step, waiting work is dropped, new work
  // is refused. Then waits for that step and for all of answer(). False: they were not done after
  // `patience`.
  bool finish(std::chrono::milliseconds patience);

 private:
  struct Job {
    Work work;
    Later::Done done;
    bool is_answer = false;
  };

  std::stop_source cancelled_;
  Worker<Job> worker_;  // last: its thread uses the member above
};

}  // namespace offcpud
