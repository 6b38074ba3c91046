// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "kernel/bpf_session.h"
#include "offcpud.h"

struct ring_buffer;

namespace offcpud {

// The ends of long blocks, as requested by BpfSession::tell_stalls. Used by one thread; the session
// must outlive it.
class StallEnds {
 public:
  static Result<std::unique_ptr<StallEnds>> open(const BpfSession& session);
  ~StallEnds();
  StallEnds(const StallEnds&) = delete;
  StallEnds& operator=(const StallEnds&) = delete;

  // The ends since the last call, in order.
  Result<std::vector<offcpud_stall_end>> take();

 private:
  StallEnds() = default;
  static int on_event(void* self, void* data, std::size_t size);

  ring_buffer* ring_ = nullptr;
  std::vector<offcpud_stall_end> taken_;
};

}  // namespace offcpud
