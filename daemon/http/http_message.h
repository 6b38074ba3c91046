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

// An HTTP request as routes and access control need it. Without a body: the server refuses requests
// that have one.
struct Request {
  std::string method = {};
  std::string path = {};                               // decoded, without the query
  std::multimap<std::string, std::string> query = {};  // decoded; "?a" has an empty value
  // Header fields; several with one name are joined to a list (RFC 9110, 5.3).
  std::string accept = {};
  std::optional<std::string> accept_encoding = {};

  // The headers Host, Authorization, Sec-Fetch-Site and Sec-Fetch-Mode as received; empty: missing.
  std::string host = {};
  std::string authorization = {};
  std::string fetch_site = {};
  std::string fetch_mode = {};
  bool sees_details = false;     // stacks, processes, threads; set by AccessControl
  bool sees_addresses = false;   // in processes, words of their memory, and paths of their files
  bool verified_client = false;  // sent a TLS certificate that was verified
  std::string peer = {};         // peer_name(): the peer for limits
  std::optional<PeerCredentials> credentials = {};  // over a unix socket
};

// Fills the buffer and returns the number of bytes; 0 ends the body. One thread at a time.
using BodyStream = std::function<std::size_t(std::span<char>)>;

struct Response;

// An answer that takes long; no thread of the server waits for it. The server calls `start` once.
// Any thread then calls `done` once, with the function that makes the response on a thread of the
// server. A `done` that is destroyed without a call becomes status 503.
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

// Answers a request. Several threads call it at once. An exception becomes status 500.
using Respond = std::function<Response(const Request&)>;

}  // namespace offcpud
