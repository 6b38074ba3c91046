// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "push/push_queue.h"
#include "push/push_target.h"
#include "snapshot/push_outcome.h"

namespace offcpud {

// What became of one attempt.
struct IngestOutcome {
  enum class Kind { Accepted, Refused, TryAgain, Interrupted };
  Kind kind = Kind::Accepted;
  PushFailure cause = PushFailure::Other;  // of Refused and TryAgain
  std::string sentence;                    // for people: what failed, with the server's answer
  std::optional<std::chrono::seconds> retry_after;
  // Of TryAgain: the server had the profile, so it may be the profile that it cannot take.
  bool may_be_the_profile = false;
};

// Sends one profile at a time.
class PushClient {
 public:
  PushClient() = default;
  PushClient(const PushClient&) = delete;
  PushClient& operator=(const PushClient&) = delete;
  virtual ~PushClient() = default;

  // Waits for target.timeout at most. By one thread.
  virtual IngestOutcome send(const PushTarget& target, const PushItem& item) = 0;

  // Ends the send() that is under way at once, or else the next one; by any thread.
  virtual void interrupt() = 0;
  // Forgets an interrupt(); when no send() is under way.
  virtual void rearm() = 0;
};

}  // namespace offcpud
