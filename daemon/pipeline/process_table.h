// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "attribution/subject.h"
#include "base/clock.h"
#include "pipeline/interval_histogram.h"
#include "pipeline/process_selection.h"
#include "pipeline/sample_source.h"
#include "pipeline/thread_interval.h"
#include "pipeline/view.h"

namespace offcpud {

// Labels of a cgroup id, never null; the same object as long as nothing changed.
using LabelsOfCgroup = std::function<std::shared_ptr<const SubjectLabels>(std::uint64_t cgroup_id)>;

// The processes behind the threads of a walk, and what each did between the last two walks. A
// process is its tgid and the start of its leader: exec, a new name, the end of a thread (of the
// leader, too) and reuse of the pid neither merge nor split one. One that has no thread left but
// zombies is gone. Single-threaded.
class ProcessTable {
 public:
  explicit ProcessTable(SelectionOptions options) : selection_(std::move(options)) {}
  void set_options(SelectionOptions options) { selection_.set_options(std::move(options)); }

  // The rows of View::processes, once per pass. With the walk of the last pass the intervals stay
  // and only histograms, names and the selection are renewed. `max_series`: histogram series that
  // the processes may have on /metrics together.
  std::vector<ProcessRow> update(const KernelSample& sample, const LabelsOfCgroup& labels_of,
                                 MonotonicTime now, std::size_t max_series);

  // See ProcessSelection.
  [[nodiscard]] std::uint64_t unfit_total() const { return selection_.unfit_total(); }

 private:
  using WaitsByKind = std::array<std::uint64_t, OFFCPUD_HIST_KINDS>;

  struct Process {
    ProcessRow row;
    std::uint64_t walk = 0;  // in which it was met last
    std::uint64_t cgroup_id = 0;
    bool leader_known = false;
    bool waits_for_work = false;  // a kernel thread that was once met idle
    KindHistograms at_last_walk;  // where the interval begins
    // Of its threads: waits that ended, with what an earlier interval showed of those whose threads
    // are gone; and the part of row.waited_ns that is a kernel thread's wait for work.
    WaitsByKind ended_ns{};
    std::uint64_t idle_ns = 0;
  };

  struct IdentityHash {
    std::size_t operator()(const ProcessIdentity& identity) const {
      return std::hash<std::uint64_t>()(identity.start_ns ^ (std::uint64_t{identity.tgid} << 40));
    }
  };

  void follow(const std::shared_ptr<const ThreadWalk>& walk);
  void begin_walk(Process& process);
  void add_thread(Process& process, const offcpud_thread* before, const offcpud_thread& now);
  void name(Process& process, const offcpud_thread& thread);
  void refresh_histograms(const KernelSample& sample);
  void finish_intervals();
  void add_ended_threads(Process& process, double interval_seconds);
  void relabel(const LabelsOfCgroup& labels_of);
  std::vector<ProcessCandidate> by_wait();

  ProcessSelection selection_;
  std::shared_ptr<const ThreadWalk> walk_, previous_;
  std::uint64_t walks_ = 0;
  std::uint64_t previous_begin_ns_ = 0;
  std::unordered_map<ProcessIdentity, Process, IdentityHash> processes_;
};

}  // namespace offcpud
