// SPDX-License-Identifier: Apache-2.0
#include "kernel/stall_ends.h"

#include <bpf/libbpf.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "offcpud.skel.h"

namespace offcpud {

Result<std::unique_ptr<StallEnds>> StallEnds::open(const BpfSession& session) {
  std::unique_ptr<StallEnds> ends(new StallEnds());
  ends->ring_ = ring_buffer__new(bpf_map__fd(session.skeleton().maps.stall_ends), on_event,
                                 ends.get(), nullptr);
  if (!ends->ring_) return Error::from_errno(errno, "open the ring of stalls");
  return ends;
}

StallEnds::~StallEnds() {
  ring_buffer__free(ring_);
}

int StallEnds::on_event(void* self, void* data, std::size_t size) {
  offcpud_stall_end end{};
  if (size < sizeof(end)) return 0;
  std::memcpy(&end, data, sizeof(end));
  static_cast<StallEnds*>(self)->taken_.push_back(end);
  return 0;
}

Result<std::vector<offcpud_stall_end>> StallEnds::take() {
  if (const int drained = ring_buffer__consume(ring_); drained < 0) {
    return Error::from_errno(-drained, "read the ring of stalls");
  }
  return std::exchange(taken_, {});
}

}  // namespace offcpud
