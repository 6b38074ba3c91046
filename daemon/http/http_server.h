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
  ConnectionLimits connections;               // with more, a new one closes another
  unsigned waiting = 24;                      // connections among these whose answer is a Later
  unsigned connection_memory = 64 * 1024;     // also bounds the head of a request
  std::chrono::milliseconds request{30'000};  // from connecting, or the last response, to the head
  std::chrono::milliseconds response{60'000};
};

// Settings that may change while the server runs. Threads of the server call both functions.
struct HttpSettings {
  // The context for new connections, never null. An empty function: plain HTTP.
  std::function<std::shared_ptr<const TlsContext>()> tls;
  // Headers that replace those of responses. An empty function: none.
  std::function<HeaderList()> headers;
};

// Listens, and serves HTTP/1.1 until it is destroyed. Only this and WaitingRequests use
// libmicrohttpd. Requests with a body get status 413; heads that are too long 431 or 414. The
// destructor waits for `respond` calls in progress, briefly for answers in progress, and closes all
// connections. A socket that another process also holds continues to listen. `deadlines`: heartbeat
// of its ConnectionDeadlines.
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
  struct Callbacks;  // called by the C library

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
