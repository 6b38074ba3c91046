// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_handle.h"
#include "histogram/subject_plan.h"
#include "kernel/feature_probe.h"

struct bpf_map;
struct offcpud_bpf;

namespace offcpud {

// For how many cgroups and processes the kernel maps have room.
struct SessionLimits {
  std::uint32_t cgroups = 1'024;
  std::uint32_t processes = 4'096;
  bool takers = true;      // whether the programs note who has each CPU
  bool disk_loads = true;  // whether they follow requests to disks
};

// Histograms reserved for each process. Most processes have waits of two or three kinds.
inline constexpr std::uint32_t kHistogramsPerProcess = 3;

// The loaded kernel programs and their maps. Sole owner of the skeleton: its destructor detaches
// the programs and frees the maps. The main thread loads, attaches and detaches; other threads use
// the maps and programs of their own part (BlockSamples, kernel_names).
class BpfSession {
 public:
  // Loads the programs, with maps sized for this machine; attaches none. Needs CAP_BPF and
  // CAP_PERFMON. If the kernel refuses a program of an optional feature, the session works without
  // the feature; see features(). Errors: Permission; Unsupported, with the end of the verifier's
  // log.
  static Result<BpfSession> load(const SessionLimits& limits, FeatureReport features);

  BpfSession(BpfSession&&) noexcept;
  BpfSession& operator=(BpfSession&&) noexcept;
  ~BpfSession();

  // Attaches every program and gives existing threads a state. From then on all events are
  // followed.
  Status attach();

  // Detaches every program that follows events; their counts can still be read. The end of the
  // process would not detach them if one of its threads hangs in the kernel, which keeps the
  // descriptors open.
  void detach();

  // Gives a state to threads without one, as every walk does. Needs CAP_BPF.
  Status seed();

  // Starts a walk over all threads: the descriptor yields one record (offcpud_thread) per thread.
  // Needs CAP_BPF.
  [[nodiscard]] Result<UniqueFd> open_walk() const;

  // From now on, the ring `stall_ends` receives the end of each block that lasted longer than this
  // and whose kind is in `kinds` (bits).
  void tell_stalls(std::uint64_t longer_than_ns, std::uint32_t kinds);

  // The features passed to load(), without those that the kernel refused.
  [[nodiscard]] const FeatureReport& features() const;
  [[nodiscard]] const SubjectPlan& plan() const;
  [[nodiscard]] offcpud_bpf& skeleton() const;

  // Whether this kernel tells who wakes a thread.
  [[nodiscard]] bool tells_wakers() const;

  // Whether the programs tell who had the CPU while threads waited for it.
  [[nodiscard]] bool tells_takers() const;

  // Whether the programs count who loads which disk.
  [[nodiscard]] bool counts_disk_loads() const;

  // Whether blocks can be sampled: the kernel tells who wakes a thread and when it runs again.
  [[nodiscard]] bool takes_stacks() const;

  // Whether this kernel writes the ring of cgroup events.
  [[nodiscard]] bool tells_cgroup_changes() const;

  // Events that the kernel did not pass to a program because that program was already running on
  // the CPU (bpf_prog_info.recursion_misses); sum over the programs that record something.
  [[nodiscard]] Result<std::uint64_t> recursion_misses() const;

 private:
  struct State;
  explicit BpfSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace offcpud
