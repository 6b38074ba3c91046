// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <vector>

#include "base/result.h"
#include "kernel/bpf_unwind_maps.h"
#include "unwind/table_store.h"
#include "unwind_sample.h"

struct unwind_probe_bpf;

namespace offcpud {

// The unwinder on its own: a program that walks the stacks of one process, and the tables for it.
class UnwindProbe {
 public:
  static Result<UnwindProbe> start();
  UnwindProbe(UnwindProbe&&) noexcept;
  ~UnwindProbe();

  // Reads the mappings of a process as they are now.
  Status track(pid_t process);
  // The stacks of its threads for a while.
  Result<std::vector<unwind_probe_sample>> watch(pid_t process, std::chrono::milliseconds time);

  [[nodiscard]] TableStoreStats stats() const { return store_->stats(); }
  [[nodiscard]] std::uint64_t lost() const;

 private:
  UnwindProbe();
  struct SkeletonDeleter {
    void operator()(unwind_probe_bpf* skeleton) const noexcept;
  };
  std::unique_ptr<unwind_probe_bpf, SkeletonDeleter> skeleton_;
  std::unique_ptr<BpfUnwindMaps> maps_;
  std::unique_ptr<TableStore> store_;
};

}  // namespace offcpud
