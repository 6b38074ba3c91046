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

// How many of each the kernel maps have room for.
struct SessionLimits {
  std::uint32_t cgroups = 1'024;
  std::uint32_t processes = 4'096;
};

// Histograms for each process; most have waits of two or three kinds.
inline constexpr std::uint32_t kHistogramsPerProcess = 3;

// The loaded kernel programs and their maps. The only owner of the skeleton: its destructor
// detaches the programs and frees the maps. The main thread loads, attaches and detaches; other
// threads use the maps and programs of their own part (BlockSamples, kernel_names).
class BpfSession {
 public:
  // Loads the programs, sized for this machine; attaches nothing. Needs CAP_BPF and CAP_PERFMON.
  // Where the kernel refuses a program of an optional feature, the session does without it; see
  // features(). Errors: Permission, Unsupported with the end of the verifier's log.
  static Result<BpfSession> load(const SessionLimits& limits, FeatureReport features);

  BpfSession(BpfSession&&) noexcept;
  BpfSession& operator=(BpfSession&&) noexcept;
  ~BpfSession();

  // Attaches every program, and gives the threads that exist a state. Afterwards every event is
  // followed.
  Status attach();

  // Detaches every program that follows events; what they have counted can still be read. The end
  // of the process would not do it while one of its threads hangs in the kernel, which keeps its
  // descriptors open.
  void detach();

  // Gives threads that have no state one, as every walk does. Needs CAP_BPF.
  Status seed();

  // Begins a walk over all threads: reading the descriptor gives their records (offcpud_thread),
  // one after the other. Needs CAP_BPF.
  [[nodiscard]] Result<UniqueFd> open_walk() const;

  // From now on, the ring `stall_ends` has the end of each block of these kinds (bits) that lasted
  // longer.
  void tell_stalls(std::uint64_t longer_than_ns, std::uint32_t kinds);

  // Those that it was given, less what the kernel refused.
  [[nodiscard]] const FeatureReport& features() const;
  [[nodiscard]] const SubjectPlan& plan() const;
  [[nodiscard]] offcpud_bpf& skeleton() const;

  // Whether wakers are known on this kernel.
  [[nodiscard]] bool tells_wakers() const;

  // Whether blocks can be sampled: both who wakes and who runs again are told.
  [[nodiscard]] bool takes_stacks() const;

  // Whether the ring of cgroup events is written on this kernel.
  [[nodiscard]] bool tells_cgroup_changes() const;

  // Events that the kernel did not hand to a program because the same program was already running
  // on that CPU (bpf_prog_info.recursion_misses), over the programs that record something.
  [[nodiscard]] Result<std::uint64_t> recursion_misses() const;

 private:
  struct State;
  explicit BpfSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace offcpud
