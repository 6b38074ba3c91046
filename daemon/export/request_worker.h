// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>

#include "export/http_message.h"

namespace offcpud {

// Makes the answers that take long, such as the sum of a day of snapshots, one at a time on a
// thread of its own: they delay each other, but no scrape, and their memory is that of one.
class RequestWorker {
 public:
  static constexpr std::size_t kMostWaiting = 8;

  RequestWorker();
  RequestWorker(const RequestWorker&) = delete;
  RequestWorker& operator=(const RequestWorker&) = delete;

  // A response that `make` makes here, or status 503 when kMostWaiting are waiting. An exception of
  // `make` becomes status 500. Must not be called by the responses of this object.
  Response respond(Later::Make make);

 private:
  struct Job {
    Later::Make make;
    Later::Done done;
  };

  void run(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Job> jobs_;
  std::jthread thread_;  // last: it uses the members above
};

}  // namespace offcpud
