// SPDX-License-Identifier: Apache-2.0
#include "kernel/cgroup_events.h"

#include <bpf/libbpf.h>

#include <cerrno>

#include "base/text.h"
#include "offcpud.h"
#include "offcpud.skel.h"

namespace offcpud {

Result<std::unique_ptr<CgroupEvents>> CgroupEvents::open(BpfSession& session) {
  std::unique_ptr<CgroupEvents> events(new CgroupEvents);
  events->ring_ = ring_buffer__new(bpf_map__fd(session.skeleton().maps.cgroup_events),
                                   &CgroupEvents::on_event, events.get(), nullptr);
  if (!events->ring_) return Error::from_errno(errno, "open ring", "cgroup_events");
  return events;
}

CgroupEvents::~CgroupEvents() {
  ring_buffer__free(ring_);
}

int CgroupEvents::fd() const {
  return ring_buffer__epoll_fd(ring_);
}

Status CgroupEvents::drain(const std::function<void(const CgroupChange&)>& apply) {
  apply_ = &apply;
  const int consumed = ring_buffer__consume(ring_);
  apply_ = nullptr;
  if (consumed < 0) return Error::from_errno(-consumed, "read ring", "cgroup_events");
  return {};
}

int CgroupEvents::on_event(void* self, void* data, std::size_t size) {
  const auto* events = static_cast<const CgroupEvents*>(self);
  if (size < sizeof(offcpud_cgroup_event)) return 0;
  const auto* event = static_cast<const offcpud_cgroup_event*>(data);
  CgroupChange change;
  change.kind = event->change == OFFCPUD_CGROUP_CREATED ? CgroupChange::Kind::Created
                                                        : CgroupChange::Kind::Removed;
  change.id = event->cgroup_id;
  change.parent_id = event->parent_id;
  if (event->change == OFFCPUD_CGROUP_CREATED) {
    change.name = up_to_nul(event->name);
  }
  (*events->apply_)(change);
  return 0;
}

}  // namespace offcpud
