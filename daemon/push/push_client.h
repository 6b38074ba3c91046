// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "push/push_queue.h"
#include "push/push_target.h"
#include "snapshot/push_outcome.h"

namespace offcpud {

// The result of one attempt.
struct IngestOutcome {
  enum class Kind { Accepted, Refused, TryAgain, Interrupted };
  Kind kind = Kind::Accepted;
  PushFailure cause = PushFailure::Other;  // of Refused and TryAgain
  std::string sentence;                    // for people: what failed, and the server's answer
  std::optional<std::chrono::seconds> retry_after;
  // With TryAgain: the server received the profile, so this profile may be what it cannot accept.
  bool may_be_the_profile = false;
};

// Sends one profile at a time.
class PushClient {
 public:
  PushClient() = default;
  PushClient(const PushClient&) = delete;
  PushClient& operator=(const PushClient&) = delete;
  virtual ~PushClient() = default;

  // Waits for target.timeout at most. Called by one thread.
  virtual IngestOutcome send(const PushTarget& target, const PushItem& item) = 0;

  // Ends the send() in progress at once; without one, the next send(). Any thread may call it.
  virtual void interrupt() = 0;
  // Undoes interrupt(). Call it while no send() is in progress.
  virtual void rearm() = 0;
};

}  // namespace offcpud
