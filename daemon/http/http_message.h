// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "http/peer_credentials.h"

namespace offcpud {

// An HTTP request as far as routes and access control need it. It has no body: the server refuses
// those that do.
struct Request {
  std::string method = {};
  std::string path = {};                               // decoded, without the query
  std::multimap<std::string, std::string> query = {};  // decoded; "?a" has an empty value
  // Fields of the head; several of one name are one list, as RFC 9110, 5.3 says.
  std::string accept = {};
  std::optional<std::string> accept_encoding = {};

  // Headers as they came, empty where they did not: Host, Authorization, Sec-Fetch-Site, -Mode.
  std::string host = {};
  std::string authorization = {};
  std::string fetch_site = {};
  std::string fetch_mode = {};
  bool sees_details = false;    // stacks, processes, threads; AccessControl says so
  bool sees_addresses = false;  // of processes, with words of their memory and paths of their files
  bool verified_client = false;  // over TLS, with a certificate of the client that was verified
  std::string peer = {};         // peer_name: whom a limit for each peer counts as one
  std::optional<PeerCredentials> credentials = {};  // over a unix socket
};

// Fills the buffer and returns the bytes written; 0 ends the body. Called by one thread at a time.
using BodyStream = std::function<std::size_t(std::span<char>)>;

struct Response;

// An answer that takes its time, and no thread of the server meanwhile. The server calls `start`
// once; whoever has the answer calls `done`, once, from any thread, with what makes the response on
// a thread of the server. A `done` that is dropped without a call becomes status 503.
struct Later {
  using Make = std::function<Response()>;
  using Done = std::function<void(Make make)>;
  std::function<void(Done done)> start;
};

struct Response {
  unsigned status = 200;
  std::string content_type = {};
  std::variant<std::string, BodyStream, Later> body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// Answers a request; called by several threads at once. An exception becomes status 500.
using Respond = std::function<Response(const Request&)>;

}  // namespace offcpud
