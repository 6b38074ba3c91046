// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "base/result.h"
#include "http/connection_deadlines.h"
#include "http/http_message.h"
#include "http/listener.h"
#include "http/response_headers.h"
#include "http/tls_context.h"
#include "http/waiting_requests.h"

struct MHD_Daemon;

namespace offcpud {

struct HttpLimits {
  unsigned threads = 2;
  ConnectionLimits connections;               // beyond, another makes room
  unsigned waiting = 24;                      // of these, for an answer that comes Later
  unsigned connection_memory = 64 * 1024;     // bounds the request head as well
  std::chrono::milliseconds request{30'000};  // from connecting, or the last response, to the head
  std::chrono::milliseconds response{60'000};
};

// What may change while the server runs. Both are called by its threads.
struct HttpSettings {
  // Of the connections that begin now; an empty function: plain HTTP. Never null where there is
  // one.
  std::function<std::shared_ptr<const TlsContext>()> tls;
  // In place of those of responses; an empty function: none.
  std::function<HeaderList()> headers;
};

// Serves HTTP/1.1 on one listener until it is destroyed; with
// WaitingRequests the only user of libmicrohttpd. Requests
// with a body get 413, heads that do not fit 431 or 414. The destructor closes all connections: it
// waits for `respond` calls that are running, and a moment for answers that are under way. A socket
// that somebody else holds, too, goes on listening. `deadlines` is the heartbeat of its
// ConnectionDeadlines.
class HttpServer {
 public:
  static Result<std::unique_ptr<HttpServer>> start(Listener listener, Respond respond,
                                                   HttpLimits limits = {},
                                                   HttpSettings settings = {},
                                                   std::shared_ptr<Heartbeat> deadlines = nullptr);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

 private:
  struct Callbacks;  // the C side

  HttpServer(Listener listener, Respond respond, HttpLimits limits, HttpSettings settings,
             std::shared_ptr<Heartbeat> deadlines);
  Status start_daemon();
  [[nodiscard]] HeaderList configured_headers() const;

  Listener listener_;
  Respond respond_;
  HttpLimits limits_;
  HttpSettings settings_;
  ConnectionDeadlines deadlines_;
  WaitingRequests waiting_;
  MHD_Daemon* daemon_ = nullptr;
};

}  // namespace offcpud
