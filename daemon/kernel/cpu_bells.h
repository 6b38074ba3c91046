// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bpf/libbpf.h>

#include <utility>

#include "base/result.h"
#include "base/unique_handle.h"

namespace offcpud {

// The ring buffers, one per possible CPU, by which a kernel program has its own CPU interrupted:
// bpf/sample.bpf.h, interrupt_self. What is in them means nothing. Used by one thread.
class CpuBells {
 public:
  // Makes them and puts them into `bells`, an array of maps that has been loaded. Needs CAP_BPF.
  static Result<CpuBells> hang(const bpf_map* bells);

  // Makes room in them. To be called often: a bell that is full does not ring, and the sample that
  // it was to be rung for counts as lost.
  void empty() const;

 private:
  using Reader = UniqueHandle<&ring_buffer__free, static_cast<ring_buffer*>(nullptr)>;
  explicit CpuBells(Reader reader) : reader_(std::move(reader)) {}

  Reader reader_;  // keeps them
};

}  // namespace offcpud
