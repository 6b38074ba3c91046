// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace offcpud {

// The result of pushing a snapshot: value of the label `result` of offcpud_push_snapshots_total.
enum class PushResult : std::size_t {
  Sent,      // the server accepted it
  Dropped,   // the queue was full, pushing was turned off, or the daemon stopped
  Rejected,  // the server refused it for good, or failed to accept it in ten attempts
  Count
};
inline constexpr std::array<std::string_view, static_cast<std::size_t>(PushResult::Count)>
    kPushResultNames = {"sent", "dropped", "rejected"};

// Why an attempt failed: value of the label `cause` of offcpud_push_failures_total. Refused is
// final; after the others there are more attempts.
enum class PushFailure : std::size_t {
  Resolve,      // the server's name could not be resolved
  Connect,      // there was no connection, or it broke
  Tls,          // certificate or handshake
  Timeout,      // push.timeout passed
  Secret,       // the file with password or token could not be read, or status 401 or 403
  RateLimited,  // status 429
  ServerError,  // status 408, 422 or 5xx
  Refused,      // any other status
  Other,
  Count
};
inline constexpr std::array<std::string_view, static_cast<std::size_t>(PushFailure::Count)>
    kPushFailureNames = {"resolve",      "connect",      "tls",     "timeout", "secret",
                         "rate_limited", "server_error", "refused", "other"};

constexpr std::string_view name_of(PushResult result) {
  return kPushResultNames[static_cast<std::size_t>(result)];
}
constexpr std::string_view name_of(PushFailure cause) {
  return kPushFailureNames[static_cast<std::size_t>(cause)];
}
static_assert(!kPushResultNames.back().empty(), "each PushResult has a name");
static_assert(!kPushFailureNames.back().empty(), "each PushFailure has a name");

}  // namespace offcpud
