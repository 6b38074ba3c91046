// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stall_log.h"

#include <algorithm>
#include <utility>

#include "base/hist_kind.h"
#include "pipeline/thread_record.h"

namespace offcpud {
namespace {

constexpr unsigned kPatience = 2;  // walks without an open record, after which it is given up
// When more blocks than this end within two walks, all are forgotten; a walk
// may then show one again.
constexpr std::size_t kMaxClosed = 4 * StallLog::kMaxInProgress;

bool may_be_stall(const StallFilter& filter, std::uint32_t kind, std::uint64_t age_ns) {
  return is_blocked_kind(kind) && (filter.kinds >> kind & 1U) != 0 && age_ns >= filter.min_ns;
}

}  // namespace

StallLog::StallLog(StallPolicy policy, LabelsOf labels_of, std::size_t keep)
    : policy_(std::move(policy)), labels_of_(std::move(labels_of)), keep_(keep) {}

void StallLog::set_keep(std::size_t keep) {
  keep_ = keep;
  while (ended_.size() > keep_) {
    ended_.pop_back();
    ++dropped_;
  }
}

void StallLog::update(const std::shared_ptr<const ThreadWalk>& walk,
                      std::span<const offcpud_stall_end> ends, MonotonicTime now, WallTime wall) {
  const auto since_boot =
      std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch());
  now_ns_ = static_cast<std::uint64_t>(since_boot.count());
  wall_offset_ =
      wall.time_since_epoch() - std::chrono::duration_cast<WallTime::duration>(since_boot);

  const bool fresh = walk && walk != walk_;
  if (fresh) {
    walk_ = walk;
    ++walks_;
    std::erase_if(closed_, [&](const auto& item) { return walks_ - item.second > kPatience; });
    local_ids_differ_ =
        std::any_of(walk_->threads.begin(), walk_->threads.end(),
                    [](const offcpud_thread& thread) { return thread.local_tid != thread.tid; });
  }
  // Events first: a block whose event came has ended, even if this walk saw it before that.
  for (const offcpud_stall_end& end : ends) apply_end(end);
  if (fresh) follow_walk();
}

void StallLog::follow_walk() {
  for (auto& [id, open] : open_) ++open.walks_without;
  beyond_limit_ = 0;
  for (const offcpud_thread& thread : walk_->threads) {
    if (thread.state != OFFCPUD_THREAD_BLOCKED) continue;
    const auto record = open_.find({thread.tid, thread.since_ns});
    if (record == open_.end()) {
      open_if_stalled(thread);
      continue;
    }
    record->second.walks_without = 0;
    record->second.stall.duration_ns = age_ns(thread);
  }
  for (auto record = open_.begin(); record != open_.end();) {
    const auto next = std::next(record);
    if (record->second.walks_without >= kPatience) give_up_missing(record);
    record = next;
  }
}

bool StallLog::is_stall(const BlockFacts& facts, std::uint64_t age_ns) const {
  const auto threshold = policy_.threshold(facts);
  return threshold && age_ns >= static_cast<std::uint64_t>(threshold->count());
}

void StallLog::open_if_stalled(const offcpud_thread& thread) {
  const std::uint64_t age = age_ns(thread);
  if ((thread.flags & (OFFCPUD_THREAD_IDLE | OFFCPUD_THREAD_UNKNOWN)) != 0) return;
  if (!may_be_stall(policy_.filter, thread.kind, age)) return;
  const StallId id{thread.tid, thread.since_ns};
  if (closed_.contains(id)) return;

  Stall stall;
  stall.comm = comm_text(thread.comm);
  stall.process_comm = comm_of(thread.tgid);
  stall.labels = labels_of_(thread.cgroup_id);
  const BlockFacts facts{stall.labels->cgroup, stall.comm, stall.process_comm, thread.kind};
  if (!is_stall(facts, age)) return;
  if (open_.size() >= kMaxInProgress) {
    ++beyond_limit_;
    return;
  }
  stall.tid = thread.tid;
  stall.tgid = thread.tgid;
  stall.local_tid = thread.local_tid;
  stall.local_tgid = thread.local_tgid;
  stall.kind = thread.kind;
  stall.since_ns = thread.since_ns;
  stall.since = wall_of(thread.since_ns);
  stall.estimated = (thread.flags & OFFCPUD_THREAD_ESTIMATED) != 0;
  stall.duration_ns = age;
  open_.emplace(id, Open{.stall = std::move(stall)});
}

void StallLog::give_up_missing(const std::map<StallId, Open>::iterator& record) {
  Stall stall = std::move(record->second.stall);
  const bool announced = record->second.announced;
  open_.erase(record);
  close(std::move(stall), announced);
}

StallFilter StallLog::filter() const {
  StallFilter filter = policy_.filter;
  for (const auto& [id, open] : open_) {
    filter.min_ns = std::min(filter.min_ns, open.stall.duration_ns);
    filter.kinds |= 1U << open.stall.kind;
  }
  return filter;
}

void StallLog::apply_end(const offcpud_stall_end& end) {
  const StallId id{end.tid, end.since_ns};
  if (closed_.contains(id) || end.ended_ns < end.since_ns) return;
  const auto record = open_.find(id);
  if (record == open_.end()) return record_unseen(end);

  Stall stall = std::move(record->second.stall);
  const bool announced = record->second.announced;
  open_.erase(record);
  put_end(stall, end);
  close(std::move(stall), announced);
}

// Records a block that began and ended between two walks, or was below its threshold in the last
// one. The kernel sends no events of waits for work.
void StallLog::record_unseen(const offcpud_stall_end& end) {
  if (!may_be_stall(policy_.filter, end.kind, end.ended_ns - end.since_ns)) return;
  Stall stall;
  stall.comm = comm_text(end.comm);
  stall.process_comm = comm_of(end.tgid);
  stall.labels = labels_of_(end.cgroup_id);
  const BlockFacts facts{stall.labels->cgroup, stall.comm, stall.process_comm, end.kind};
  if (!is_stall(facts, end.ended_ns - end.since_ns)) return;
  stall.tid = end.tid;
  stall.tgid = end.tgid;
  stall.local_tid = local_id(end.tid);
  stall.local_tgid = local_id(end.tgid);
  stall.kind = end.kind;
  stall.since_ns = end.since_ns;
  stall.since = wall_of(end.since_ns);
  stall.estimated = end.estimated != 0;
  put_end(stall, end);
  close(std::move(stall), false);
}

void StallLog::put_end(Stall& stall, const offcpud_stall_end& end) const {
  stall.duration_ns = end.ended_ns - end.since_ns;
  stall.ended_at = wall_of(end.ended_ns);
  if (end.waker < OFFCPUD_WAKERS) stall.woken_from = static_cast<offcpud_waker>(end.waker);
  stall.waker_tid = end.waker_tid;
  stall.waker_comm = comm_of(end.waker_tid);
}

void StallLog::close(Stall stall, bool announced) {
  if (closed_.size() >= kMaxClosed) closed_.clear();
  closed_.emplace(StallId{stall.tid, stall.since_ns}, walks_);
  stall.ended = true;
  const auto ended = std::make_shared<const Stall>(std::move(stall));
  if (!announced) changes_.begun.push_back(ended);
  changes_.ended.push_back(ended);
  ended_.push_front(ended);
  set_keep(keep_);
}

std::vector<StallId> StallLog::wanted() const {
  std::vector<StallId> blocks;
  for (const auto& [id, open] : open_) {
    if (!open.stall.detail) blocks.push_back(id);
  }
  std::sort(blocks.begin(), blocks.end(),
            [](const StallId& a, const StallId& b) { return a.since_ns < b.since_ns; });
  return blocks;
}

void StallLog::describe(const StallId& block, WaitDetail detail) {
  const auto record = open_.find(block);
  if (record != open_.end()) record->second.stall.detail = std::move(detail);
}

StallChanges StallLog::take_changes() {
  for (auto& [id, open] : open_) {
    if (std::exchange(open.announced, true)) continue;
    changes_.begun.push_back(snapshot(open));
  }
  return std::exchange(changes_, {});
}

std::shared_ptr<const StallList> StallLog::list() const {
  auto list = std::make_shared<StallList>();
  list->stalls.reserve(open_.size() + ended_.size());
  for (const auto& [id, open] : open_) {
    list->stalls.push_back(snapshot(open));
    if (!open.stall.detail) ++list->detail_pending;
  }
  std::sort(list->stalls.begin(), list->stalls.end(),
            [](const auto& a, const auto& b) { return a->since_ns < b->since_ns; });
  list->stalls.insert(list->stalls.end(), ended_.begin(), ended_.end());
  list->dropped = dropped_;
  return list;
}

// While walks show the block it is in progress: its end would have come as an event.
std::shared_ptr<const Stall> StallLog::snapshot(const Open& open) const {
  auto stall = std::make_shared<Stall>(open.stall);
  if (open.walks_without == 0 && now_ns_ > stall->since_ns) {
    stall->duration_ns = std::max(stall->duration_ns, now_ns_ - stall->since_ns);
  }
  return stall;
}

const offcpud_thread* StallLog::find_thread(std::uint32_t tid) const {
  return walk_ ? offcpud::find_thread(*walk_, tid) : nullptr;
}

std::string StallLog::comm_of(std::uint32_t tid) const {
  const offcpud_thread* const thread = find_thread(tid);
  return thread != nullptr ? comm_text(thread->comm) : std::string();
}

// For a thread that may be in no walk. 0: unknown.
std::uint32_t StallLog::local_id(std::uint32_t id) const {
  const offcpud_thread* const thread = find_thread(id);
  if (thread != nullptr) return thread->local_tid;
  return local_ids_differ_ ? 0 : id;
}

WallTime StallLog::wall_of(std::uint64_t monotonic_ns) const {
  const std::chrono::nanoseconds since_boot(static_cast<std::int64_t>(monotonic_ns));
  return WallTime(std::chrono::duration_cast<WallTime::duration>(since_boot) + wall_offset_);
}

}  // namespace offcpud
