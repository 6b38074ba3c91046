// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

#include "base/heartbeat.h"
#include "http/http_message.h"

namespace offcpud {

// Makes the answers that take long, such as the sum of a day of snapshots, one at a time on a
// thread of its own: they delay each other, but no scrape, and their memory is that of one.
// Thread-safe.
class RequestWorker {
 public:
  static constexpr std::size_t kMostWaiting = 8;

  // Makes an answer in pieces: when `stop` asks for it nobody wants the rest any more, and the next
  // piece is not begun.
  using Work = std::function<Response(const std::stop_token& stop)>;

  explicit RequestWorker(std::shared_ptr<Heartbeat> heartbeat = nullptr);
  // Waits for the piece under way; see finish().
  ~RequestWorker();
  RequestWorker(const RequestWorker&) = delete;
  RequestWorker& operator=(const RequestWorker&) = delete;

  // A response that `work` makes here, or status 503 when kMostWaiting are waiting. An exception
  // becomes status 500. Must not be called by the responses of this object.
  Response respond(Work work);

  // Makes a response here for which somebody waits already: `done` gets it. Whoever calls bounds
  // their number. It comes before what respond() has waiting, because it is finished already but
  // for its form.
  void answer(Later::Make make, Later::Done done);

  // Cancels respond(): what is under way ends with its piece, what waits is dropped, what comes is
  // refused. Then waits for that and for what answer() was given. False: the time was not enough.
  bool finish(std::chrono::milliseconds patience);

 private:
  struct Job {
    Work work;
    Later::Done done;
  };

  void run(const std::stop_token& ending);
  void perform(const Job& job);

  const std::shared_ptr<Heartbeat> heartbeat_;  // may be null
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::stop_source cancelled_;
  std::deque<Job> jobs_;  // of respond()
  std::deque<Job> answers_;
  bool busy_ = false;
  std::jthread thread_;  // last: it uses the members above
};

}  // namespace offcpud
