// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>

#include "base/clock.h"
#include "kernel/bpf_session.h"
#include "kernel/map_view.h"
#include "offcpud.h"
#include "pipeline/sample_source.h"

namespace offcpud {

// SampleSource over the maps of a session, which must outlive it.
class BpfSampleSource final : public SampleSource {
 public:
  // Call after BpfSession::attach(): what was counted until then is the start-up, not a loss.
  static Result<std::unique_ptr<BpfSampleSource>> open(BpfSession& session);

  Result<KernelSample> read() override;
  void close(std::span<const std::uint64_t> cgroup_ids) override;

 private:
  BpfSampleSource(BpfSession& session, MappedArray<offcpud_subject> subjects,
                  MappedArray<std::uint32_t> free_subjects)
      : session_(session),
        subjects_(std::move(subjects)),
        free_subjects_(std::move(free_subjects)) {}

  using Losses = std::array<std::uint64_t, OFFCPUD_LOSSES>;
  [[nodiscard]] Result<Losses> read_losses() const;
  [[nodiscard]] CgroupReading reading(std::uint64_t cgroup_id, std::uint32_t subject) const;
  void close_one(std::uint64_t cgroup_id);
  std::vector<CgroupReading> take_closed();
  void release(std::uint32_t subject);

  // A subject that no thread can find any more; one that found it before may be adding to it still.
  struct Closing {
    std::uint64_t cgroup_id;
    std::uint32_t subject;
    MonotonicTime since;
  };

  BpfSession& session_;
  MappedArray<offcpud_subject> subjects_;
  MappedArray<std::uint32_t> free_subjects_;
  std::vector<Closing> closing_;
  Losses losses_at_start_{};
  Losses last_losses_{};  // at the last read
};

}  // namespace offcpud
