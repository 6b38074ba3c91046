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
  std::string summary;  // kSummaryHeader; "" without
};

// How much is waited for and kept of an answer.
struct AnswerLimits {
  std::chrono::seconds time{5};
  std::size_t bytes = 16UL * 1024 * 1024;
};

// Of what the daemon makes of many snapshots.
inline constexpr AnswerLimits kSnapshotLimits{std::chrono::seconds(120), 512UL * 1024 * 1024};

// One GET of `path` from the daemon at `server`, without proxies and redirects. A server that
// cannot be reached is ErrorKind::Unsupported; the message says what to do. `stop` gives up within
// about a second.
Result<HttpAnswer> http_get(const Server& server, const std::string& path,
                            const std::stop_token& stop = {}, const AnswerLimits& limits = {});

// The error for an answer that is not 200: with the daemon's sentence, if it is one of its errors.
// 400, the daemon does not take what it was asked, is ErrorKind::Usage; 401 and 403, it does not
// let this user see it, are ErrorKind::Permission.
Error refused(const std::string& server_text, const HttpAnswer& answer);

}  // namespace offcpud
