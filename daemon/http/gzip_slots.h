// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/gzip_refusal.h"

namespace offcpud {

// Limits how many bodies are compressed at a time, and shares them: a client that does not read
// keeps its body for a minute, and there may be many such clients. A peer that has n slots may take
// one more only if n stay free then: of 8 slots, a peer alone gets 4, the next one 2. Copies share
// the slots. Thread-safe.
class GzipSlots {
 public:
  // `refused` is called for each refusal, by the thread that asks.
  explicit GzipSlots(unsigned most, std::function<void(GzipRefusal)> refused = {});

  // Taken until the last copy of the pointer is gone; that may outlive the object. Null: refused.
  // `peer`: see peer_name().
  [[nodiscard]] std::shared_ptr<const void> take(const std::string& peer) const;

 private:
  struct Slots;
  std::shared_ptr<Slots> slots_;
  std::function<void(GzipRefusal)> refused_;
};

}  // namespace offcpud
