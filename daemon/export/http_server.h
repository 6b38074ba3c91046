// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>

#include "base/result.h"
#include "export/connection_deadlines.h"
#include "export/http_message.h"
#include "export/listener.h"
#include "export/waiting_requests.h"

struct MHD_Daemon;

namespace offcpud {

struct HttpLimits {
  unsigned threads = 2;
  unsigned connections = 64;                  // those beyond wait in the kernel's queue
  unsigned waiting = 16;                      // of these, for an answer that comes Later
  unsigned connection_memory = 64 * 1024;     // bounds the request head as well
  std::chrono::milliseconds request{30'000};  // from connecting, or the last response, to the head
  std::chrono::milliseconds response{60'000};
};

// Serves HTTP/1.1 on one listener until it is destroyed; with
// WaitingRequests the only user of libmicrohttpd. Requests
// with a body get 413, heads that do not fit 431 or 414. The destructor closes all connections and
// waits only for `respond` calls that are running.
class HttpServer {
 public:
  static Result<std::unique_ptr<HttpServer>> start(Listener listener, Respond respond,
                                                   HttpLimits limits = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

 private:
  struct Callbacks;  // the C side

  HttpServer(Listener listener, Respond respond, HttpLimits limits);
  Status start_daemon();

  Listener listener_;
  Respond respond_;
  HttpLimits limits_;
  ConnectionDeadlines deadlines_;
  WaitingRequests waiting_;
  MHD_Daemon* daemon_ = nullptr;
};

}  // namespace offcpud
