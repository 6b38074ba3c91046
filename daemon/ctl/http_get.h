// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/server.h"

namespace offcpud {

struct HttpAnswer {
  long status = 0;
  std::string body;
  std::string summary;  // kSummaryHeader; empty: there is none
};

// How long to wait for an answer, and how much of it to accept.
struct AnswerLimits {
  std::chrono::seconds time{5};
  std::size_t bytes = 16UL * 1024 * 1024;
};

// Limits for answers that the daemon makes from many snapshots.
inline constexpr AnswerLimits kSnapshotLimits{std::chrono::seconds(120), 512UL * 1024 * 1024};

// Sends one GET of `path` to the daemon at `server`, without proxies and redirects.
// ErrorKind::Unsupported: the server cannot be reached; the message says what to do. When `stop` is
// requested, returns within about a second.
Result<HttpAnswer> http_get(const Server& server, const std::string& path,
                            const std::stop_token& stop = {}, const AnswerLimits& limits = {});

// The error for an answer that is not 200; quotes the daemon's sentence if there is one. 400 (the
// daemon refuses the request) is ErrorKind::Usage; 401 and 403 (this user may not see it) are
// ErrorKind::Permission.
Error refused(const std::string& server_text, const HttpAnswer& answer);

}  // namespace offcpud
