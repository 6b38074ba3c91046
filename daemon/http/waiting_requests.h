// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "http/http_message.h"

struct MHD_Connection;

namespace offcpud {

// The connections of an HttpServer whose answer is a Later. They are suspended, so no thread waits
// for them. Thread-safe; answers may come after the object is gone.
class WaitingRequests {
 public:
  explicit WaitingRequests(std::size_t most) : most_(most) {}

  // Suspends the connection and calls `start`. False: too many wait, or close() was called. Must be
  // called in the library's request handler, which then must return MHD_YES.
  bool suspend(MHD_Connection* connection, const Later& later);

  // The answer of a resumed connection; empty: it was not waiting.
  Later::Make take(MHD_Connection* connection);

  // Called when the request is over, answered or not.
  void forget(MHD_Connection* connection);

  // Resumes all connections with status 503; from now on suspend() returns false.
  void close();

 private:
  class Waiting;

  const std::size_t most_;
  std::mutex mutex_;
  bool closed_ = false;
  std::unordered_map<MHD_Connection*, std::shared_ptr<Waiting>> waiting_;
};

}  // namespace offcpud
