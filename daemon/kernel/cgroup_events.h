// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "attribution/cgroup_index.h"
#include "base/result.h"
#include "kernel/bpf_session.h"

struct ring_buffer;

namespace offcpud {

// The kernel's events about created and removed cgroups. Used by one thread; the session must
// outlive it.
class CgroupEvents {
 public:
  static Result<std::unique_ptr<CgroupEvents>> open(BpfSession& session);
  ~CgroupEvents();
  CgroupEvents(const CgroupEvents&) = delete;
  CgroupEvents& operator=(const CgroupEvents&) = delete;

  // Readable when events wait.
  [[nodiscard]] int fd() const;

  // Passes every waiting event to `apply`, in order.
  Status drain(const std::function<void(const CgroupChange&)>& apply);

 private:
  CgroupEvents() = default;
  static int on_event(void* self, void* data, std::size_t size);

  ring_buffer* ring_ = nullptr;
  const std::function<void(const CgroupChange&)>* apply_ = nullptr;  // set only during drain()
};

}  // namespace offcpud
