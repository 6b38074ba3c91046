// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bpf/libbpf.h>

#include <utility>

#include "base/result.h"
#include "base/unique_handle.h"

namespace offcpud {

// One ring buffer for each possible CPU, by which a kernel program interrupts its own CPU
// (bpf/sample.bpf.h, interrupt_self). What is in them means nothing. Used by one thread.
class SelfInterrupts {
 public:
  // Makes the rings and puts them into `map`, an array of maps that has been loaded. Needs CAP_BPF.
  static Result<SelfInterrupts> make(const bpf_map* map);

  // Makes room in the rings. Call it often: a ring that is full interrupts nobody, and the sample
  // that asked for the interrupt counts as lost.
  void empty() const;

 private:
  using Reader = UniqueHandle<&ring_buffer__free, static_cast<ring_buffer*>(nullptr)>;
  explicit SelfInterrupts(Reader reader) : reader_(std::move(reader)) {}

  Reader reader_;  // owns the rings
};

}  // namespace offcpud
