// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bpf/libbpf.h>

#include <utility>

#include "base/result.h"
#include "base/unique_handle.h"

namespace offcpud {

// One ring buffer per possible CPU, with which a kernel program interrupts its own CPU
// (bpf/sample.bpf.h, interrupt_self). Their contents mean nothing. Used by one thread.
class SelfInterrupts {
 public:
  // Creates the rings and puts them into `map`, a loaded array of maps. Needs CAP_BPF.
  static Result<SelfInterrupts> make(const bpf_map* map);

  // Empties the rings. Call it often: a full ring interrupts nobody, and the sample that wanted the
  // interrupt counts as lost.
  void empty() const;

 private:
  using Reader = UniqueHandle<&ring_buffer__free, static_cast<ring_buffer*>(nullptr)>;
  explicit SelfInterrupts(Reader reader) : reader_(std::move(reader)) {}

  Reader reader_;  // owns the rings
};

}  // namespace offcpud
