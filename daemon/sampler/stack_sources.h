// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/stack_losses.h"
#include "jit/jit_code.h"
#include "kernel/block_samples.h"
#include "kernel/bpf_unwind_maps.h"
#include "mappings/live_mappings.h"
#include "reader/reader_requests.h"
#include "sampler/address_locator.h"
#include "sampler/kernel_room.h"
#include "sampler/object_registry.h"
#include "symbols/symbol_worker.h"
#include "unwind/table_store.h"

namespace offcpud {

// Follows the host's processes, so that their stacks can be walked and their addresses located.
// Owned by one thread; the session, the worker and the clock must outlive it.
class StackSources final : public AddressLocator {
 public:
  struct Reports {
    std::function<void(std::string_view topic, const std::string& sentence)> warned;
    std::function<void(const std::string& path, const ObjectRefusals& causes)> refused;
  };

  // Needs CAP_PERFMON and CAP_BPF. A failure is reported as a warning, and user stacks are missing
  // from then on. `client` reads other processes; `debug_files` is for the thread of `symbols`.
  StackSources(const BpfSession& session, SymbolWorker& symbols, ReaderClient& client,
               FilesBelow* debug_files, const Clock& clock, Reports reports);

  // A descriptor that is readable when many events wait; -1: nothing is followed.
  [[nodiscard]] int fd() const { return mappings_ ? mappings_->fd() : -1; }

  void follow() override;

  // follow() calls `between` after each event and each process, because many events or large
  // objects may take long. It may call locate(), but not follow().
  void set_between(std::function<void()> between);

  void forget_ended() override;

  [[nodiscard]] std::vector<LocatedFrame> locate(std::uint32_t tgid, std::uint64_t when_ns,
                                                 std::span<const __u64> addresses) const override;

  // Walks step through this code from now on.
  void put_code(std::uint32_t tgid, const JitCode& code);

  // The processes whose mappings are not all kept, the largest first; and how many mappings were
  // left out since the start.
  [[nodiscard]] std::vector<OverShare> over_share();
  [[nodiscard]] std::uint64_t left_out() const;
  // What was left out since the start, except symbols.
  [[nodiscard]] StackLosses losses() const;

  [[nodiscard]] const TableStore* tables() const { return tables_.get(); }

 private:
  Status open(const BpfSession& session, SymbolWorker& symbols, FilesBelow* debug_files,
              const Clock& clock);

  Reports reports_;
  const Clock& clock_;
  std::unique_ptr<BpfUnwindMaps> maps_;
  std::unique_ptr<TableStore> tables_;
  std::unique_ptr<KernelRoom> room_;
  DeadlineFileOpener opener_;
  DeadlineProcessReader processes_;
  std::unique_ptr<ObjectRegistry> registry_;
  std::unique_ptr<LiveMappings> mappings_;
  std::uint64_t generation_ = 0;
};

}  // namespace offcpud
