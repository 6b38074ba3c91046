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

// Makes the answers that take long, such as the sum of a day of snapshots, one at a time on a
// thread of its own: they delay each other, but no scrape, and only one of them takes memory.
// Thread-safe.
class RequestWorker {
 public:
  static constexpr std::size_t kMostWaiting = 8;

  // Makes an answer in pieces. When `stop` asks for it, nobody wants the rest any more, and `Work`
  // returns before the next piece.
  using Work = std::function<Response(const std::stop_token& stop)>;

  explicit RequestWorker(const std::shared_ptr<Heartbeat>& heartbeat = nullptr);
  // As finish(0), and waits for the piece in progress.
  ~RequestWorker();
  RequestWorker(const RequestWorker&) = delete;
  RequestWorker& operator=(const RequestWorker&) = delete;

  // A response that `work` makes here, or status 503 when kMostWaiting wait. An exception becomes
  // status 500. The responses of this object must not call it.
  Response respond(Work work);

  // Makes a response here for which somebody waits already, and hands it to `done`. The caller
  // bounds the number of them. It comes before what respond() has waiting, because nothing of it is
  // left to do but its form.
  void answer(Later::Make make, Later::Done done);

  // Cancels respond(): what is in progress ends with its piece, what waits is dropped, what comes
  // is refused. Then waits for that and for what answer() was given. False: the time was not
  // enough.
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
