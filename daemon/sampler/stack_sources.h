// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "kernel/block_samples.h"
#include "kernel/bpf_unwind_maps.h"
#include "mappings/live_mappings.h"
#include "sampler/object_registry.h"
#include "sampling/block_stacks.h"
#include "symbols/symbol_worker.h"
#include "unwind/table_store.h"

namespace offcpud {

// What follows the processes of the host, so that their stacks can be walked and their addresses
// located. Owned by one thread; the session, the worker and the clock must outlive it.
class StackSources {
 public:
  using Warn = std::function<void(std::string_view topic, const std::string& sentence)>;

  // Needs CAP_PERFMON and CAP_BPF. Whatever fails is warned of, and then user stacks are missing.
  StackSources(const BpfSession& session, SymbolWorker& symbols, const Clock& clock, Warn warn);

  // Readable when there is a lot to follow; -1: nothing is followed.
  [[nodiscard]] int fd() const { return mappings_ ? mappings_->fd() : -1; }

  // Takes over what has happened: before samples are located, and several times a second.
  void follow();

  // Processes that had ended by the last call are forgotten: their samples have been located.
  void forget_ended();

  // Addresses of the process at that time, innermost first.
  [[nodiscard]] std::vector<LocatedFrame> locate(std::uint32_t tgid, std::uint64_t when_ns,
                                                 std::span<const __u64> addresses) const;

  [[nodiscard]] const TableStore* tables() const { return tables_.get(); }

 private:
  Status open(const BpfSession& session, SymbolWorker& symbols, const Clock& clock);

  Warn warn_;
  std::unique_ptr<BpfUnwindMaps> maps_;
  std::unique_ptr<TableStore> tables_;
  ProcFileOpener opener_;
  std::unique_ptr<ObjectRegistry> registry_;
  std::unique_ptr<LiveMappings> mappings_;
  std::uint64_t generation_ = 0;
};

}  // namespace offcpud
