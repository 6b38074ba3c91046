// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace offcpud {

// What became of a snapshot that was to be pushed: value of the label `result` of
// offcpud_push_snapshots_total.
enum class PushResult : std::size_t {
  Sent,      // the server took it
  Dropped,   // given up here: the queue was full, pushing was turned off, or the daemon stopped
  Rejected,  // the server answered that it will never take it, or did not in ten attempts
};
inline constexpr std::array<std::string_view, 3> kPushResultNames = {"sent", "dropped", "rejected"};

// Why an attempt failed: value of the label `cause` of offcpud_push_failures_total. All but Refused
// are tried again.
enum class PushFailure : std::size_t {
  Resolve,      // the name of the server
  Connect,      // no connection, or it broke
  Tls,          // certificate or handshake
  Timeout,      // push.timeout
  Secret,       // the file with password or token cannot be read, or status 401 or 403
  RateLimited,  // status 429
  ServerError,  // status 408, 422 or 5xx
  Refused,      // any other status
  Other,
};
inline constexpr std::array<std::string_view, 9> kPushFailureNames = {
    "resolve",      "connect",      "tls",     "timeout", "secret",
    "rate_limited", "server_error", "refused", "other"};

constexpr std::string_view name_of(PushResult result) {
  return kPushResultNames[static_cast<std::size_t>(result)];
}
constexpr std::string_view name_of(PushFailure cause) {
  return kPushFailureNames[static_cast<std::size_t>(cause)];
}
static_assert(name_of(PushResult::Rejected) == "rejected");
static_assert(name_of(PushFailure::Other) == "other");

}  // namespace offcpud
