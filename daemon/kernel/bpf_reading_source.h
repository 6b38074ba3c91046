// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <memory>

#include "base/clock.h"
#include "kernel/bpf_session.h"
#include "kernel/disk_loads.h"
#include "kernel/kept_off_times.h"
#include "kernel/map_view.h"
#include "kernel/process_histograms.h"
#include "kernel/stall_ends.h"
#include "kernel/thread_walker.h"
#include "kernel/wait_details.h"
#include "offcpud.h"
#include "pipeline/reading_source.h"

namespace offcpud {

// The ReadingSource that reads the maps of a session. The session must outlive it.
class BpfReadingSource final : public ReadingSource {
 public:
  // Call it after BpfSession::attach(): losses before this call belong to the start-up and are left
  // out.
  static Result<std::unique_ptr<BpfReadingSource>> open(BpfSession& session);

  Result<KernelReading> read() override;
  void close(std::span<const std::uint64_t> cgroup_ids) override;
  void watch_stalls(const StallFilter& filter) override;
  Result<std::vector<WaitReport>> describe(const ThreadWalk& walk,
                                           std::span<const std::uint32_t> tids) override;

  // CPU time that one read may spend on walking over the threads.
  void set_walk_budget(std::chrono::nanoseconds budget) { walk_budget_ = budget; }

 private:
  BpfReadingSource(BpfSession& session, MappedArray<offcpud_subject> subjects,
                   MappedArray<std::uint32_t> free_subjects, KeptOffTimes kept_off,
                   ProcessHistograms processes, std::unique_ptr<StallEnds> stall_ends,
                   std::unique_ptr<WaitDetails> details)
      : session_(session),
        subjects_(std::move(subjects)),
        free_subjects_(std::move(free_subjects)),
        kept_off_(std::move(kept_off)),
        walker_(session),
        processes_(std::move(processes)),
        disk_loads_(session),
        stall_ends_(std::move(stall_ends)),
        details_(std::move(details)) {}

  using Losses = std::array<std::uint64_t, OFFCPUD_LOSSES>;
  [[nodiscard]] Result<Losses> read_losses() const;
  Status read_cgroups(KernelReading& kernel);
  Status read_threads(KernelReading& kernel);
  Status read_counts(KernelReading& kernel);
  [[nodiscard]] CgroupReading reading(std::uint64_t cgroup_id, std::uint32_t subject) const;
  void close_one(std::uint64_t cgroup_id);
  std::vector<CgroupReading> take_closed();
  void release(std::uint32_t subject);

  // A subject that is no longer in the kernel's table of cgroups. A program that had found it
  // before may still be adding to it.
  struct Closing {
    std::uint64_t cgroup_id;
    std::uint32_t subject;
    MonotonicTime since;
  };

  BpfSession& session_;
  MappedArray<offcpud_subject> subjects_;
  MappedArray<std::uint32_t> free_subjects_;
  KeptOffTimes kept_off_;
  std::vector<Closing> closing_;
  ThreadWalker walker_;
  std::chrono::nanoseconds walk_budget_ = std::chrono::milliseconds(50);
  std::shared_ptr<const ThreadWalk> walk_;  // the last complete one
  ProcessHistograms processes_;
  DiskLoads disk_loads_;
  std::unique_ptr<StallEnds> stall_ends_;
  std::unique_ptr<WaitDetails> details_;
  Losses losses_at_start_{};
  Losses last_losses_{};  // at the last read()
};

}  // namespace offcpud
