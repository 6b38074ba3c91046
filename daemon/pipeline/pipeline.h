// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "attribution/cgroup_directory.h"
#include "base/clock.h"
#include "base/result.h"
#include "holders/deadlocks.h"
#include "pipeline/disk_load_book.h"
#include "pipeline/exemplar_book.h"
#include "pipeline/goroutine_book.h"
#include "pipeline/in_progress.h"
#include "pipeline/io_stat.h"
#include "pipeline/kept_off_book.h"
#include "pipeline/label_cache.h"
#include "pipeline/process_table.h"
#include "pipeline/reading_source.h"
#include "pipeline/removed_paths.h"
#include "pipeline/series_store.h"
#include "pipeline/site_history.h"
#include "pipeline/stall_log.h"
#include "pipeline/unaccounted_time.h"
#include "pipeline/unusual_waits.h"
#include "pipeline/view.h"
#include "pipeline/wait_history.h"
#include "pipeline/wait_window.h"
#include "pipeline/waited_on.h"

namespace offcpud {

struct PipelineOptions {
  // A removed cgroup keeps its own series this long, unless others need their places.
  std::chrono::seconds linger{600};
  std::size_t max_series = 4000;
  std::vector<std::chrono::milliseconds> stall_bounds{};  // ascending; kMaxStallBounds at most
  SelectionOptions processes{};      // which processes have series of their own
  StallPolicy stalls{};              // which blocks count as stalls
  std::size_t keep_stalls = 256;     // records of ended stalls
  std::uint32_t unusual_factor = 0;  // UnusualWaits::set_factor()
  std::size_t max_takers = 8;        // KeptOffBook::set_most_named()
  // Reads which cgroups load a disk; null: the source does, or nobody.
  std::shared_ptr<IoStat> io_stat = nullptr;
  // Reasons (bits) whose blocks add_waits() reports; 0 while nothing is sampled.
  std::uint32_t examined_kinds = (1U << OFFCPUD_BLOCKED_KINDS) - 1;
};

// Turns the kernel's counters into an immutable View, one pass at a time. Owns the series. Runs on
// one thread, the only one that changes `cgroups`; `cgroups`, `source` and `clock` must outlive it.
class Pipeline {
 public:
  Pipeline(ReadingSource& source, CgroupDirectory& cgroups, const Clock& clock,
           PipelineOptions options);

  // Finds the existing cgroups. Call it once, after the source has begun to follow their changes.
  Status start();

  void apply(const CgroupChange& change);

  // A pass calls read(), which reads the kernel's counters, and then attribute(), which accounts
  // them to series; they are separate so that each can be timed and counted. After an error the
  // series hold what could be accounted, and nothing of the reading is lost.
  Result<KernelReading> read();
  Result<std::shared_ptr<const View>> attribute(const KernelReading& kernel);

  void set_options(PipelineOptions options);

  // When the source began to count, if that was before the pipeline existed. Call it before the
  // first pass.
  void set_counting_since(WallTime since) {
    counting_since_ = read_began_ = since;
    store_.set_counting_since(since);
  }

  // Adds the longest episodes of one snapshot; the next Views show them.
  void add_exemplars(std::vector<FoundExemplar> found) {
    exemplars_.add(std::move(found), clock_.wall());
  }

  // Adds what threads waited for within a window; the next pass shows it.
  void add_waits(std::shared_ptr<const WaitWindow> window);

  // Adds what goroutines waited for within a window; the next pass shows it.
  void add_goroutines(std::shared_ptr<const GoroutineWindow> window);

  // The stalls that began or ended since the last call.
  [[nodiscard]] StallChanges take_stall_changes() { return stalls_.take_changes(); }

 private:
  void fold_removed();
  void fold(const std::string& path, const std::string& into);
  bool make_room(std::string_view path);
  [[nodiscard]] std::string home_of(std::string path) const;
  void account_cgroups(const KernelReading& kernel);
  void open_series(const StallList& stalls, const InProgressByPath& in_progress);
  void follow_folded(InProgressByPath& in_progress) const;
  bool follow_walk(const KernelReading& kernel);  // true: there is a new walk
  void account_kept_off(const KernelReading& kernel);
  void account_disk_loads(const KernelReading& kernel);
  void note_devices(const WaitWindow& window);
  [[nodiscard]] std::string series_path(std::uint64_t cgroup_id) const;
  void add_subjects(View& view, bool new_walk);
  void remember_kinds(InProgressByPath& in_progress);
  void add_processes(View& view, const KernelReading& kernel);
  void follow_stalls(const KernelReading& kernel);
  [[nodiscard]] std::shared_ptr<const SubjectLabels> labels_of(std::uint64_t cgroup_id);

  ReadingSource& source_;
  CgroupDirectory& cgroups_;
  const Clock& clock_;
  PipelineOptions options_;
  SeriesStore store_;
  LabelCache labels_;
  KeptOffBook kept_off_;
  DiskLoadBook disk_loads_;
  std::shared_ptr<const DisksOfDevices> disks_ = std::make_shared<DisksOfDevices>();
  MonotonicTime storage_waited_{};  // when threads waited for storage last
  ProcessTable processes_;
  ExemplarBook exemplars_;
  WallTime counting_since_, read_began_;  // when counting and the last reading began
  WallTime booted_;                       // when CLOCK_BOOTTIME was 0
  StallLog stalls_;
  UnusualWaits unusual_;
  std::uint64_t lost_wait_ns_ = 0;
  WaitHistory history_;
  SiteHistory sites_;
  WaitedOnStore waited_on_;
  PeerHistory peers_;
  GoroutineBook goroutines_;
  Deadlocks deadlocks_;
  std::shared_ptr<const std::vector<Deadlock>> locked_;  // null: none
  // gauges shown, by path; bits of blocked kinds
  std::map<std::string, std::uint32_t> shown_kinds_;
  RemovedPaths removed_;
  std::set<std::string> folded_;  // since the last pass

  std::shared_ptr<const ThreadWalk> walk_, previous_walk_;
  UnaccountedTime unaccounted_;  // between these two walks, like the deviation
  std::optional<double> running_deviation_;
};

}  // namespace offcpud
