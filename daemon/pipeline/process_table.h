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
#include "pipeline/reading_source.h"
#include "pipeline/thread_interval.h"
#include "pipeline/view.h"

namespace offcpud {

// The labels of a cgroup id, never null. It is the same object while nothing changes.
using LabelsOfCgroup = std::function<std::shared_ptr<const SubjectLabels>(std::uint64_t cgroup_id)>;

// The processes behind the threads of a walk, and what each did between the last two walks. A
// process is identified by its tgid and the start of its leader, so exec, renaming, the end of a
// thread (even of the leader) and reuse of the pid neither merge nor split processes. A process
// with only zombies left is gone. Single-threaded.
class ProcessTable {
 public:
  explicit ProcessTable(SelectionOptions options) : selection_(std::move(options)) {}
  void set_options(SelectionOptions options) { selection_.set_options(std::move(options)); }

  // Returns the rows of View::processes; call it once per pass. If the reading has the same walk as
  // the last pass, intervals stay as they are; only histograms, names and the selection are
  // renewed. `max_series`: the most histogram series that all processes together may have on
  // /metrics.
  std::vector<ProcessRow> update(const KernelReading& kernel, const LabelsOfCgroup& labels_of,
                                 MonotonicTime now, std::size_t max_series);

  // See ProcessSelection.
  [[nodiscard]] std::uint64_t unfit_total() const { return selection_.unfit_total(); }

 private:
  using WaitsByKind = std::array<std::uint64_t, OFFCPUD_HIST_KINDS>;

  struct Process {
    ProcessRow row;
    std::uint64_t walk = 0;  // the last one that showed it
    std::uint64_t cgroup_id = 0;
    bool leader_known = false;
    bool waits_for_work = false;  // a kernel thread that some walk found idle
    KindHistograms at_last_walk;  // at the beginning of the interval
    // ended_ns: waits of its threads that ended; of a thread that is gone, its wait as the walk
    // before showed it. idle_ns: a kernel thread's waits for work, a part of row.waited_ns.
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
  void refresh_histograms(const KernelReading& kernel);
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
