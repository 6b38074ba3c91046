// SPDX-License-Identifier: Apache-2.0
#include "pipeline/pipeline.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/hist_kind.h"
#include "kept_off.h"
#include "pipeline/in_progress.h"
#include "pipeline/stall.h"
#include "pipeline/stall_sums.h"
#include "pipeline/subject_rows.h"
#include "pipeline/taker.h"

namespace offcpud {
namespace {

// io.stat is read for this long after the last wait for storage.
constexpr std::chrono::minutes kStorageIsOfInterest{1};
constexpr std::size_t kMostDevices = 1'024;
// A wait that has been in progress for this long has a series before it ends.
constexpr std::uint64_t kLongNs = 1'000'000'000;
// Counts of a removed cgroup come within this time: see CgroupDirectory::quiet() and WaitWindow.
constexpr std::chrono::minutes kFoldedKept{2};

// A number that changes whenever the kernel accounts anything to the cgroup.
std::uint64_t activity(const CgroupReading& reading) {
  std::uint64_t sum = reading.running_ns;
  for (const std::uint64_t taken : reading.preemptions) sum += taken;
  for (const std::uint64_t woken : reading.wakeups) sum += woken;
  for (const auto& histogram : reading.histograms) {
    if (histogram) sum += histogram->sum_ns;
  }
  return sum;
}

SeenCgroups cgroups_of(const KernelReading& kernel) {
  SeenCgroups seen;
  seen.missed_changes = kernel.missed_cgroup_changes;
  seen.accounted.reserve(kernel.cgroups.size());
  for (const CgroupReading& reading : kernel.cgroups) {
    seen.accounted.push_back({reading.cgroup_id, activity(reading)});
  }
  if (!kernel.walk) return seen;
  std::vector<std::uint64_t>& ids = seen.of_threads;
  for (const offcpud_thread& thread : kernel.walk->threads) {  // neighbours often share a cgroup
    if (ids.empty() || ids.back() != thread.cgroup_id) ids.push_back(thread.cgroup_id);
  }
  return seen;
}

}  // namespace

Pipeline::Pipeline(ReadingSource& source, CgroupDirectory& cgroups, const Clock& clock,
                   PipelineOptions options)
    : source_(source),
      cgroups_(cgroups),
      clock_(clock),
      store_(options.max_series),
      kept_off_([this](const std::string& path) { return labels_.get(path); }),
      disk_loads_([this](const std::string& path) { return labels_.get(path); }),
      processes_(options.processes),
      counting_since_(clock.wall()),
      read_began_(counting_since_),
      booted_(counting_since_ - std::chrono::duration_cast<WallTime::duration>(
                                    clock.now().time_since_epoch() + suspended_time())),
      stalls_(
          options.stalls, [this](std::uint64_t id) { return labels_of(id); }, options.keep_stalls) {
  store_.set_counting_since(counting_since_);
  store_.set_make_room([this](std::string_view path) { return make_room(path); });
  set_options(std::move(options));
}

Status Pipeline::start() {
  return cgroups_.rescan(clock_.now());
}

void Pipeline::apply(const CgroupChange& change) {
  cgroups_.apply(change, clock_.now());
  if (change.kind != CgroupChange::Kind::Created) return;
  // The cgroup may be gone again before the next pass; then the path's linger starts anew.
  if (const auto path = cgroups_.find(change.id)) removed_.revive(*path);
}

void Pipeline::set_options(PipelineOptions options) {
  options_ = std::move(options);
  options_.stall_bounds.resize(std::min(options_.stall_bounds.size(), kMaxStallBounds));
  store_.set_max_series(options_.max_series);
  store_.set_examined_kinds(options_.examined_kinds);
  if (options_.examined_kinds == 0) {
    sites_.clear();
    peers_.clear();
  }
  processes_.set_options(options_.processes);
  stalls_.set_policy(options_.stalls);
  stalls_.set_keep(options_.keep_stalls);
  unusual_.set_factor(options_.unusual_factor);
  kept_off_.set_most_named(options_.max_takers);
  source_.watch_stalls(stalls_.filter());
}

void Pipeline::add_waits(std::shared_ptr<const WaitWindow> window) {
  for (const EndedWaits& ended : window->ended) {
    store_.add_waits(home_of(ended.cgroup), ended, window->begin);
  }
  for (const PeerWaits& waits : window->peers) {
    if (waits.ended.ns <= 0) continue;
    const std::string path = home_of(waits.cgroup);
    const bool has_series = store_.open_waits(path, waits.wait_for, window->begin);
    waited_on_.add(has_series ? std::string_view(path) : kOtherCgroup, waits, window->end_at);
  }
  for (const SiteWaits& waits : window->sites) {
    const bool is_long = waits.lasting > 0 && waits.oldest.ns >= kLongNs;
    if (!is_long || !actionable(waits.wait_for) || !cgroups_.is_live(waits.cgroup)) continue;
    store_.open_waits(waits.cgroup, waits.wait_for, window->begin);
  }
  auto locked = deadlocks_.update(window->held);
  locked_ =
      locked.empty() ? nullptr : std::make_shared<const std::vector<Deadlock>>(std::move(locked));
  peers_.add(*window, past_holders(window, locked_.get()));
  note_devices(*window);
  lost_wait_ns_ += window->lost_ns;
  sites_.add(window);
  unusual_.take_examined(*window);
  stalls_.take_examined(std::move(window), locked_.get());
}

// A process whose cgroup has no series has hardly run.
void Pipeline::add_goroutines(std::shared_ptr<const GoroutineWindow> window) {
  goroutines_.add(std::move(window), [this](const std::string& cgroup) {
    std::string path = home_of(cgroup);
    return store_.contains(path) ? path : std::string(kOtherCgroup);
  });
}

// Anything new since the last reading was counted after that reading began.
Result<KernelReading> Pipeline::read() {
  const WallTime began = clock_.wall();
  TRY(auto kernel, source_.read());
  store_.set_start_of_new(std::exchange(read_began_, began));
  return kernel;
}

Result<std::shared_ptr<const View>> Pipeline::attribute(const KernelReading& kernel) {
  // A failure does not end the pass: readings of closed places come only once.
  const SeenCgroups seen = cgroups_of(kernel);
  const Status named = cgroups_.name(seen, clock_.now());
  fold_removed();
  account_cgroups(kernel);
  account_kept_off(kernel);
  account_disk_loads(kernel);
  source_.close(cgroups_.quiet(seen.accounted, clock_.now()));
  kept_off_.forget_takers(folded_);
  disk_loads_.forget(std::exchange(folded_, {}));
  cgroups_.forget_removed(clock_.now());
  follow_stalls(kernel);
  if (!named) return named.error();

  const bool new_walk = follow_walk(kernel);
  auto view = std::make_shared<View>();
  view->taken = clock_.now();
  view->taken_wall = clock_.wall();
  view->counting_since = counting_since_;
  view->stalls = stalls_.list();
  add_subjects(*view, new_walk);
  exemplars_.forget_old(view->taken_wall);
  for (SubjectSeries& series : view->subjects) {
    series.exemplars = exemplars_.of_cgroup(series.labels->cgroup);
    series.kept_off = kept_off_.of(series.labels->cgroup);
    series.waited_on = waited_on_.of(series.labels->cgroup);
    series.goroutines = goroutines_.of(series.labels->cgroup);
  }
  view->kept_off_steps = kept_off_.record(*view);
  if (kernel.counts_disk_loads || options_.io_stat) {
    view->disk_loads = std::make_shared<const std::vector<DiskLoadRow>>(disk_loads_.sums());
    view->disk_load_steps = disk_loads_.steps();
    view->times_disk_requests = kernel.counts_disk_loads;
  }
  view->disks = disks_;
  view->losses = kernel.losses;
  view->losses.push_back({"unplaced_cgroup", cgroups_.unplaced_events()});
  view->programs = kernel.programs;
  view->left_censored = kernel.left_censored;
  view->tells_wakers = kernel.tells_wakers;
  view->maps = kernel.maps;
  view->histogram_series = store_.histogram_series();
  view->folded_series = store_.folded_series();
  view->lost_wait_ns = lost_wait_ns_;
  view->waits = sites_.last(view->taken);
  if (view->waits) view->deadlocks = locked_;
  sum_stalls(*view);
  view->unusual = unusual_.find(view->subjects, *view->stalls, view->taken);
  view->tells_unusual = options_.unusual_factor != 0 && options_.examined_kinds != 0;
  add_processes(*view, kernel);
  view->history = history_.record(*view);
  sum_deadlocks(*view);
  view->site_history = sites_.windows(view->taken);
  view->peer_history = peers_.windows();
  view->goroutine_history = goroutines_.windows();
  labels_.forget_unused();
  return std::shared_ptr<const View>(std::move(view));
}

// Living cgroups come first, so that removed ones take no place from them.
void Pipeline::account_cgroups(const KernelReading& kernel) {
  const MonotonicTime now = clock_.now();
  std::vector<std::pair<std::string, const CgroupReading*>> living, removed;
  for (const CgroupReading& reading : kernel.cgroups) {
    std::string path = cgroups_.path_of(reading.cgroup_id);
    const bool lives = is_no_name(path) || cgroups_.is_live(path);
    if (!lives) removed_.note(path, now);
    (lives ? living : removed).emplace_back(std::move(path), &reading);
  }
  for (const auto& [path, reading] : living) store_.account(path, *reading);
  for (const auto& [path, reading] : removed) store_.account(home_of(path), *reading);
  for (const CgroupReading& reading : kernel.closed) {
    const std::string path = cgroups_.path_of(reading.cgroup_id);
    store_.account(home_of(path), reading);
    store_.forget(path, reading);
  }
}

// Where the counts of a path go: once its series were folded, where these went.
std::string Pipeline::home_of(std::string path) const {
  if (!removed_.is_folded(path)) return path;
  auto successor = cgroups_.successor_of(path);
  return successor ? *std::move(successor) : path;
}

// The series that hold what is accounted to a cgroup.
std::string Pipeline::series_path(std::uint64_t cgroup_id) const {
  std::string path = cgroups_.path_of(cgroup_id);
  return store_.contains(path) ? path : std::string(kOtherCgroup);
}

// After the readings of the cgroups, so that each has its series.
void Pipeline::account_kept_off(const KernelReading& kernel) {
  for (const KeptOffIncrease& more : kernel.kept_off) {
    std::string path = home_of(cgroups_.path_of(more.cgroup_id));
    if (!store_.open(path, OFFCPUD_RUNQ_WAKEUP)) path = kOtherCgroup;
    std::string taker;
    switch (more.taker) {
      case OFFCPUD_TAKEN_BY_SAME:
        taker = path;
        break;
      case OFFCPUD_TAKEN_BY_KERNEL:
        taker = kKernelTaker;
        break;
      case OFFCPUD_TAKEN_BY_IDLE:
        taker = kIdleTaker;
        break;
      case OFFCPUD_TAKEN_BY_OTHER:
        taker = kOtherCgroup;
        break;
      case OFFCPUD_TAKEN_BY_UNKNOWN:
        taker = kUnknownCgroup;
        break;
      default:
        taker = series_path(more.taker);
    }
    kept_off_.add(path, taker, more.ns);
  }
}

void Pipeline::account_disk_loads(const KernelReading& kernel) {
  for (const DiskLoadReading& more : kernel.disk_loads) {
    const std::string by = more.cgroup_id == OFFCPUD_LOADER_KERNEL    ? std::string(kKernelTaker)
                           : more.cgroup_id == OFFCPUD_LOADER_UNKNOWN ? std::string(kUnknownCgroup)
                                                                      : series_path(more.cgroup_id);
    disk_loads_.add(more.disk, by, more.load);
  }
  const MonotonicTime now = clock_.now();
  if (options_.io_stat && now - storage_waited_ <= kStorageIsOfInterest) {
    for (const DiskLoadOfPath& more : options_.io_stat->read(store_.paths())) {
      disk_loads_.add(more.disk, more.cgroup, more.load);
    }
  } else if (options_.io_stat) {
    options_.io_stat->forget();
  }
  disk_loads_.end_pass(now);
}

// Which disks a device has may change while it is waited on.
void Pipeline::note_devices(const WaitWindow& window) {
  const auto is_for_storage = [](const PeerWaits& waits) {
    return waits.wait_for == WaitFor::Storage && waits.time.ns > 0;
  };
  if (std::ranges::any_of(window.peers, is_for_storage)) storage_waited_ = window.end_at;
  if (window.disks.empty()) return;
  DisksOfDevices disks = window.disks;
  if (disks_->size() < kMostDevices) disks.insert(disks_->begin(), disks_->end());
  disks_ = std::make_shared<const DisksOfDevices>(std::move(disks));
}

// A walk may be spread over several passes; until it is complete, samples hold the one before.
bool Pipeline::follow_walk(const KernelReading& kernel) {
  if (kernel.walk == walk_) return false;
  previous_walk_ = std::exchange(walk_, kernel.walk);
  running_deviation_.reset();
  if (walk_ && previous_walk_) running_deviation_ = running_deviation(*previous_walk_, *walk_);
  return true;
}

void Pipeline::add_subjects(View& view, bool new_walk) {
  view.stall_bounds = options_.stall_bounds;
  view.walk = walk_;
  view.previous_walk = previous_walk_;
  view.running_deviation_ratio = running_deviation_;
  if (!walk_) {
    std::ignore = store_.take_accounted();  // without a walk no interval begins
    unaccounted_ = {};
    view.subjects = subject_rows(store_, nullptr, options_.max_series);
    return;
  }
  const auto path = [this](std::uint64_t id) { return cgroups_.path_of(id); };
  InProgressByPath in_progress = waits_in_progress(*walk_, options_.stall_bounds, path);
  if (new_walk) unaccounted_.end_interval(in_progress, store_.take_accounted());
  open_series(*view.stalls, in_progress);
  follow_folded(in_progress);
  for (const auto& [cgroup, ratio] : unaccounted_.ratios()) {
    if (!in_progress.contains(cgroup) && !store_.contains(cgroup)) continue;
    in_progress[cgroup].waits.unaccounted_ratio = ratio;
  }
  remember_kinds(in_progress);
  view.subjects = subject_rows(store_, &in_progress, options_.max_series);
}

// Begins series at 0 for long waits in progress, so that rate() and increase() see them when they
// end. In idle-prone reasons only stalls matter. Rows that only have threads need a place, too.
void Pipeline::open_series(const StallList& stalls, const InProgressByPath& in_progress) {
  for (const auto& stall : stalls.stalls) {
    if (stall->ended || stall->estimated || !cgroups_.is_live(stall->labels->cgroup)) continue;
    store_.open(stall->labels->cgroup, stall->kind);
  }
  std::size_t without_series = 0;
  for (const auto& [path, cgroup] : in_progress) {
    if (!cgroups_.is_live(path)) continue;
    for (std::size_t kind = 0; kind < OFFCPUD_HIST_KINDS; ++kind) {
      const bool is_long = cgroup.waits.open[kind].oldest_counted_ns >= kLongNs;
      if (is_long && is_actionable(kind)) store_.open(path, kind);
    }
    if (!store_.contains(path)) ++without_series;
  }
  const auto rows = [&] { return store_.series().size() + without_series; };
  while (rows() > options_.max_series && make_room({})) continue;
}

// A walk may still have threads of a removed cgroup; without this they would begin its row anew.
void Pipeline::follow_folded(InProgressByPath& in_progress) const {
  for (auto item = in_progress.begin(); item != in_progress.end();) {
    const std::string home = home_of(item->first);
    if (home == item->first) {
      ++item;
      continue;
    }
    offcpud::add_waits(in_progress[home].waits, item->second.waits);
    item = in_progress.erase(item);
  }
}

// A gauge that was shown falls to 0 instead of vanishing, as long as its cgroup has a row.
void Pipeline::remember_kinds(InProgressByPath& in_progress) {
  std::erase_if(shown_kinds_, [&](const auto& item) {
    return !in_progress.contains(item.first) && !store_.contains(item.first);
  });
  for (auto& [cgroup, now] : in_progress) {
    for (std::size_t kind = 0; kind < OFFCPUD_BLOCKED_KINDS; ++kind) {
      if (now.waits.blocked[kind].threads > 0) shown_kinds_[cgroup] |= 1U << kind;
    }
  }
  for (const auto& [cgroup, kinds] : shown_kinds_) in_progress[cgroup].waits.shown = kinds;
}

void Pipeline::add_processes(View& view, const KernelReading& kernel) {
  const std::size_t room =
      options_.max_series - std::min<std::size_t>(options_.max_series, view.histogram_series);
  view.processes = processes_.update(
      kernel, [this](std::uint64_t id) { return labels_of(id); }, view.taken, room);
  for (ProcessRow& row : view.processes) {
    if (!row.exported) continue;
    const std::chrono::nanoseconds start(row.start_ns);
    row.started =
        std::max(counting_since_, booted_ + std::chrono::duration_cast<WallTime::duration>(start));
    row.exemplars = exemplars_.of_process(row.pid, row.start_ns);
    view.histogram_series += static_cast<std::uint64_t>(std::ranges::count_if(
        row.histograms, [](const auto& one) { return one && !one->empty(); }));
  }
  view.refused_processes = processes_.unfit_total();
}

// If a look-up fails, the next pass repeats it.
void Pipeline::follow_stalls(const KernelReading& kernel) {
  stalls_.update(kernel.walk, kernel.stall_ends, clock_.now(), clock_.wall());
  source_.watch_stalls(stalls_.filter());
  if (!kernel.walk) return;
  std::vector<std::uint32_t> tids;
  for (const StallId& stall : stalls_.wanted()) tids.push_back(stall.tid);
  if (tids.empty()) return;
  auto reports = source_.describe(*kernel.walk, tids);
  if (!reports) return;
  for (WaitReport& report : *reports) {
    stalls_.describe({report.tid, report.since_ns}, std::move(report.detail));
  }
}

std::shared_ptr<const SubjectLabels> Pipeline::labels_of(std::uint64_t cgroup_id) {
  return labels_.get(cgroups_.path_of(cgroup_id));
}

// A path without a cgroup keeps its series for `linger`; then they are added to "(removed)" below
// the nearest ancestor that exists. So are those of a "(removed)" whose owner is gone.
void Pipeline::fold_removed() {
  const MonotonicTime now = clock_.now();
  for (const std::string& path : store_.paths()) {
    if (path == kOtherCgroup || path == kUnknownCgroup) continue;
    if (cgroups_.successor_of(path)) {
      removed_.note(path, now);
    } else {
      removed_.revive(path);
    }
  }
  removed_.forget_folded(now - kFoldedKept);
  for (const std::string& path : removed_.lingering_since(now - options_.linger)) {
    if (const auto successor = cgroups_.successor_of(path)) fold(path, *successor);
  }
}

void Pipeline::fold(const std::string& path, const std::string& into) {
  store_.fold(path, into);
  kept_off_.fold(path, into);
  waited_on_.fold(path, into, clock_.now());
  goroutines_.fold(path, into);
  removed_.set_folded(path, clock_.now());
  folded_.insert(path);
}

// Folds the path that lingers longest, other than `path`.
bool Pipeline::make_room(std::string_view path) {
  while (const std::string* const longest = removed_.longest(path)) {
    const std::string removed = *longest;
    if (const auto successor = cgroups_.successor_of(removed)) {
      fold(removed, *successor);
      return true;
    }
    removed_.revive(removed);
  }
  return false;
}

}  // namespace offcpud
