// SPDX-License-Identifier: Apache-2.0
#include "kernel/bpf_reading_source.h"

#include <atomic>
#include <cstring>

#include "kernel/program_grace.h"
#include "offcpud.skel.h"

namespace offcpud {
namespace {

// Values of the label `cause`, by enum offcpud_loss.
constexpr auto kCauses = std::to_array<const char*>(
    {"no_thread_state", "cgroup_table_full", "negative_duration", "missed_wakeup", "missed_switch",
     "cgroup_events_full", "process_table_full", "stall_ends_full", "sample_lost",
     "cgroup_table_busy", "free_list_busy", "waker_stack_lost", "restarted_call_unknown",
     "disk_loads_full"});
static_assert(kCauses.size() == OFFCPUD_LOSSES);

// Values of the label `program`, by enum offcpud_program.
constexpr auto kPrograms =
    std::to_array<const char*>({"sched_switch", "sched_waking", "sched_wakeup_new", "task_newtask",
                                "irq_work_exit", "block_getrq", "block_rq_complete"});
static_assert(kPrograms.size() == OFFCPUD_PROGRAMS);

void add(CgroupReading& total, const offcpud_subject& shard) {
  total.running_ns += shard.running_ns;
  total.unaccounted_ns += shard.unaccounted_ns;
  for (std::size_t by = 0; by < OFFCPUD_TAKERS; ++by)
    total.preemptions[by] += shard.preemptions[by];
  for (std::size_t from = 0; from < OFFCPUD_WAKERS; ++from) {
    total.wakeups[from] += shard.wakeups[from];
  }
  for (std::size_t kind = 0; kind < OFFCPUD_HIST_KINDS; ++kind) {
    const offcpud_hist& hist = shard.hists[kind];
    // An empty sum can only have episodes of 0 ns, which count in slot 0: no other slot is read.
    if (hist.sum_ns == 0 && hist.slots[0] == 0) continue;
    if (!total.histograms[kind]) total.histograms[kind] = std::make_unique<LatencyHistogram>();
    *total.histograms[kind] += hist;
  }
}

}  // namespace

Result<std::unique_ptr<BpfReadingSource>> BpfReadingSource::open(BpfSession& session) {
  offcpud_bpf& skeleton = session.skeleton();
  TRY(auto subjects, MappedArray<offcpud_subject>::map(skeleton.maps.subjects, true));
  TRY(auto free_subjects, MappedArray<std::uint32_t>::map(skeleton.maps.free_subjects, true));
  TRY(auto kept_off, KeptOffTimes::open(session));
  TRY(auto processes, ProcessHistograms::open(session));
  TRY(auto stall_ends, StallEnds::open(session));
  TRY(auto details, WaitDetails::open(session));
  std::unique_ptr<BpfReadingSource> source(new BpfReadingSource(
      session, std::move(subjects), std::move(free_subjects), std::move(kept_off),
      std::move(processes), std::move(stall_ends), std::move(details)));
  TRY(source->losses_at_start_, source->read_losses());
  source->last_losses_ = source->losses_at_start_;
  return source;
}

Result<BpfReadingSource::Losses> BpfReadingSource::read_losses() const {
  Losses losses{};
  for (std::uint32_t i = 0; i < losses.size(); ++i) {
    TRY(losses[i], sum_percpu(session_.skeleton().maps.losses, i));
  }
  return losses;
}

CgroupReading BpfReadingSource::reading(std::uint64_t cgroup_id, std::uint32_t subject) const {
  CgroupReading total;
  total.cgroup_id = cgroup_id;
  total.place = subject;
  const std::uint32_t shards = session_.plan().shards;
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    add(total, subjects_[std::size_t{subject} * shards + shard]);
  }
  return total;
}

Result<KernelReading> BpfReadingSource::read() {
  KernelReading kernel;
  TRY_VOID(read_cgroups(kernel));
  TRY_VOID(read_threads(kernel));
  TRY_VOID(read_counts(kernel));
  TRY_VOID(disk_loads_.read(std::chrono::steady_clock::now()));
  kernel.counts_disk_loads = session_.counts_disk_loads();
  if (kernel.counts_disk_loads) kernel.maps.push_back(disk_loads_.usage());
  TRY(kernel.stall_ends, stall_ends_->take());  // late, as these come only once
  kernel.closed = take_closed();                // last: an error must not lose them
  kernel.kept_off = kept_off_.take();
  kernel.disk_loads = disk_loads_.take();
  kept_off_.turn_window(std::chrono::steady_clock::now());
  return kernel;
}

Status BpfReadingSource::read_cgroups(KernelReading& kernel) {
  const offcpud_bpf& skeleton = session_.skeleton();
  TRY(const auto pass, (read_hash<std::uint64_t, std::uint32_t>(skeleton.maps.cgroup_subjects)));
  if (!pass.complete) return Error("map 'cgroup_subjects' changed faster than it could be read");
  kernel.cgroups.reserve(pass.entries.size() + 1);
  const auto add = [&](std::uint64_t cgroup_id, std::uint32_t subject) {
    kernel.cgroups.push_back(reading(cgroup_id, subject));
    kept_off_.read(cgroup_id, subject);
  };
  add(0, OFFCPUD_SUBJECT_OTHER);
  for (const auto& [cgroup_id, subject] : pass.entries) {
    if (subject < session_.plan().subjects) add(cgroup_id, subject);
  }
  for (const Closing& closing : closing_) add(closing.cgroup_id, closing.subject);
  kernel.maps.push_back({"cgroup_subjects", pass.entries.size(), session_.plan().subjects - 1});
  return {};
}

Status BpfReadingSource::read_threads(KernelReading& kernel) {
  TRY(auto walk, walker_.advance(walk_budget_));
  if (walk) walk_ = std::move(walk);
  kernel.walk = walk_;
  kernel.processes = processes_.read();
  for (MapUsage& usage : processes_.usage()) kernel.maps.push_back(std::move(usage));
  return {};
}

Status BpfReadingSource::read_counts(KernelReading& kernel) {
  TRY(const Losses losses, read_losses());
  for (std::size_t i = 0; i < losses.size(); ++i) {
    kernel.losses.push_back({kCauses[i], losses[i] - losses_at_start_[i]});
  }
  for (std::uint32_t i = 0; i < OFFCPUD_PROGRAMS; ++i) {
    TRY(const auto costs, read_percpu<offcpud_cost>(session_.skeleton().maps.costs, i));
    ProgramCost total{kPrograms[i]};
    for (const offcpud_cost& cost : costs) {
      total.runs += cost.runs;
      total.ns += cost.ns;
    }
    kernel.programs.push_back(std::move(total));
  }
  TRY(const std::uint64_t misses, session_.recursion_misses());
  kernel.losses.push_back({"program_busy", misses});
  kernel.losses.push_back({"takers_full", kept_off_.refused()});
  TRY(kernel.left_censored,
      sum_percpu(session_.skeleton().maps.counts, OFFCPUD_COUNT_LEFT_CENSORED));
  kernel.tells_wakers = session_.tells_wakers();
  kernel.missed_cgroup_changes =
      !session_.tells_cgroup_changes() ||
      losses[OFFCPUD_LOSS_CGROUP_EVENT] != last_losses_[OFFCPUD_LOSS_CGROUP_EVENT];
  last_losses_ = losses;
  return {};
}

Result<std::vector<WaitReport>> BpfReadingSource::describe(const ThreadWalk& walk,
                                                           std::span<const std::uint32_t> tids) {
  return details_->look_up(walk, tids);
}

void BpfReadingSource::watch_stalls(const StallFilter& filter) {
  session_.tell_stalls(filter.min_ns, filter.kinds);
}

void BpfReadingSource::close(std::span<const std::uint64_t> cgroup_ids) {
  for (const std::uint64_t cgroup_id : cgroup_ids) close_one(cgroup_id);
}

void BpfReadingSource::close_one(std::uint64_t cgroup_id) {
  const int map = bpf_map__fd(session_.skeleton().maps.cgroup_subjects);
  std::uint32_t subject = 0;
  if (bpf_map_lookup_elem(map, &cgroup_id, &subject) != 0) return;
  if (subject == OFFCPUD_SUBJECT_OTHER || subject >= session_.plan().subjects) return;
  if (bpf_map_delete_elem(map, &cgroup_id) != 0) return;  // refused: the next pass asks again
  const std::uint32_t shards = session_.plan().shards;
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    subjects_[std::size_t{subject} * shards + shard].cgroup_id = 0;
  }
  closing_.push_back({cgroup_id, subject, std::chrono::steady_clock::now()});
}

std::vector<CgroupReading> BpfReadingSource::take_closed() {
  std::vector<CgroupReading> closed;
  const MonotonicTime quiet = std::chrono::steady_clock::now() - kProgramGrace;
  std::erase_if(closing_, [&](const Closing& closing) {
    if (closing.since > quiet) return false;
    closed.push_back(reading(closing.cgroup_id, closing.subject));
    kept_off_.read(closing.cgroup_id, closing.subject);
    release(closing.subject);
    return true;
  });
  return closed;
}

void BpfReadingSource::release(std::uint32_t subject) {
  const std::uint32_t shards = session_.plan().shards;
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    std::memset(&subjects_[std::size_t{subject} * shards + shard], 0, sizeof(offcpud_subject));
  }
  kept_off_.release(subject);
  // The programs read the ring up to free_tail, so the entry and the zeros must be written
  // before it moves.
  auto tail = std::atomic_ref<decltype(session_.skeleton().bss->free_tail)>(
      session_.skeleton().bss->free_tail);
  const auto position = tail.load(std::memory_order_relaxed);
  free_subjects_[position & (session_.plan().ring_size - 1)] = subject;
  tail.store(position + 1, std::memory_order_release);
}

}  // namespace offcpud
