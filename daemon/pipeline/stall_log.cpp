// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stall_log.h"

#include <algorithm>
#include <utility>

#include "base/hist_kind.h"
#include "base/idle_block.h"
#include "base/text.h"
#include "pipeline/stall_peers.h"
#include "pipeline/thread_record.h"

namespace offcpud {
namespace {

constexpr unsigned kPatience = 2;  // walks without an open record, after which it is given up
// When more blocks than this end within two walks, all are forgotten; a walk may then show one
// again.
constexpr std::size_t kMaxClosed = 4 * StallLog::kMaxInProgress;

constexpr std::uint64_t kExaminedWithinNs =
    std::chrono::nanoseconds(StallLog::kExaminedWithin).count();

// Reasons that leave no doubt without a stack, because the kernel itself says so: it marks waits
// for disks and stopped threads, and lets nothing from outside end the rest. Any other reason may
// be that of an idle thread: docs/decisions/0030-stalls-without-stacks.md.
constexpr std::uint32_t kSureKinds =
    1U << OFFCPUD_BLOCKED_DISK | 1U << OFFCPUD_BLOCKED_KERNEL | 1U << OFFCPUD_BLOCKED_STOPPED;

bool has_kind(std::uint32_t kinds, std::uint32_t kind) {
  return is_blocked_kind(kind) && (kinds >> kind & 1U) != 0;
}

// Nobody need act on such a wait. A shell waits for its child as long as the program runs, perhaps
// all day. If the program is stuck, its own block is told.
bool concerns_nobody(std::size_t kind, const ExaminedWait& wait) {
  return is_idle(wait.wait_for) || is_for_own_child(kind, wait.wait_for);
}

}  // namespace

StallLog::StallLog(StallPolicy policy, LabelsOf labels_of, std::size_t keep)
    : policy_(std::move(policy)), labels_of_(std::move(labels_of)), keep_(keep) {}

void StallLog::set_policy(StallPolicy policy) {
  if ((policy.examined_kinds & ~policy_.examined_kinds) != 0) {
    examining_since_ns_.reset();
    first_window_ns_.reset();
  }
  policy_ = std::move(policy);
}

void StallLog::take_examined(std::shared_ptr<const WaitWindow> window,
                             const std::vector<Deadlock>* deadlocks) {
  if (!first_window_ns_) first_window_ns_ = ns_of(window->end_at);
  const auto peers = std::make_shared<const StallPeers>(window, deadlocks);
  for (auto& [id, open] : open_) peers->note_in(open.stall);
  examined_.push_front({.waits = std::move(window), .updates = updates_, .peers = peers});
  const auto blocks = [this] {
    std::size_t sum = 0;
    for (const Window& each : examined_) sum += each.waits->blocks.size();
    return sum;
  };
  while (examined_.size() > 2 && (examined_.back().updates + 1 < updates_ ||
                                  examined_.size() > kMaxWindows || blocks() > kMaxExamined)) {
    examined_.pop_back();
  }
  if (examined_.size() <= 2) return;
  // The rest of an older window is large, and nobody reads it any more.
  auto older = std::make_shared<WaitWindow>();
  older->blocks = examined_[2].waits->blocks;
  examined_[2].waits = std::move(older);
  examined_[2].peers = nullptr;
}

// What windows before its record knew of a stall.
void StallLog::note_peers(Stall& stall) const {
  for (auto window = examined_.rbegin(); window != examined_.rend(); ++window) {
    if (window->peers) window->peers->note_in(stall);
  }
}

void StallLog::set_keep(std::size_t keep) {
  keep_ = keep;
  while (ended_.size() > keep_) {
    ended_.pop_back();
    ++dropped_;
  }
}

void StallLog::update(const std::shared_ptr<const ThreadWalk>& walk,
                      std::span<const offcpud_stall_end> ends, MonotonicTime now, WallTime wall) {
  now_ns_ = ns_of(now);
  const std::chrono::nanoseconds since_boot = now.time_since_epoch();
  wall_offset_ =
      wall.time_since_epoch() - std::chrono::duration_cast<WallTime::duration>(since_boot);

  ++updates_;
  if (policy_.examined_kinds != 0 && !examining_since_ns_) examining_since_ns_ = now_ns_;

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
  look_again();
  reconsider();
  if (fresh) follow_walk();
}

void StallLog::follow_walk() {
  for (auto& [id, open] : open_) ++open.walks_without;
  unlisted_.clear();
  idle_pasts_.forget_old(now_ns_);
  walked_ns_ = now_ns_;
  without_record_ = {};
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
    if (record->second.walks_without >= kPatience) close(take(record));
    record = next;
  }
}

bool StallLog::examines(std::uint32_t kind) const {
  return has_kind(policy_.examined_kinds, kind);
}

bool StallLog::may_be_stall(std::uint32_t kind, std::uint64_t age_ns) const {
  const std::uint32_t kinds = policy_.examined_kinds | policy_.filter.kinds;
  return has_kind(kinds, kind) && age_ns >= policy_.filter.min_ns;
}

// True if the block is idle whatever the names of the thread are, as most lasting blocks of a host
// are.
bool StallLog::is_surely_idle(std::uint32_t kind, const ExaminedWait* wait) const {
  return wait != nullptr && concerns_nobody(kind, *wait) && !has_kind(policy_.named_kinds, kind);
}

StallLog::Verdict StallLog::judge(const Stall& stall, std::uint64_t age_ns, bool late) const {
  const ExaminedWait* const wait = stall.wait.get();
  const StallThresholds limits =
      policy_.thresholds({stall.labels->cgroup, stall.comm, stall.process_comm, stall.kind});
  const auto is_over = [age_ns](const StallThresholds::Threshold& limit) {
    return limit && age_ns >= static_cast<std::uint64_t>(limit->count());
  };
  const Verdict by_reason = is_over(limits.by_reason) ? Verdict::Told : Verdict::None;
  if (!examines(static_cast<std::uint32_t>(stall.kind)) || limits.reason_named) return by_reason;
  if (wait == nullptr) {
    if (late) return reason_decides(stall, by_reason);
    return is_over(limits.actionable) ? Verdict::Later : Verdict::None;
  }
  if (concerns_nobody(stall.kind, *wait)) return Verdict::Idle;
  if (!is_over(limits.actionable)) return Verdict::None;
  return actionable(wait->wait_for) && wait->certain ? Verdict::Told : Verdict::Untold;
}

// What its reason says of a block whose stack nobody examined. If blocks of this process and reason
// were idle before, it most likely is, too.
StallLog::Verdict StallLog::reason_decides(const Stall& stall, Verdict by_reason) const {
  const auto kind = static_cast<std::uint32_t>(stall.kind);
  const bool is_sure =
      has_kind(kSureKinds, kind) && !idle_pasts_.was_idle(stall.tgid, kind, now_ns_);
  return by_reason == Verdict::Told && !is_sure ? Verdict::Untold : by_reason;
}

// Remembers what the stack of a block said, for later blocks of the process.
void StallLog::note_past(std::uint32_t tgid, std::uint32_t kind, const ExaminedWait* wait) {
  if (wait == nullptr) return;
  const bool idle = concerns_nobody(kind, *wait);
  if (idle || actionable(wait->wait_for)) idle_pasts_.note(tgid, kind, idle, now_ns_);
}

// Whether its stack should have been examined by now.
bool StallLog::is_late(std::uint64_t since_ns) const {
  if (!examining_since_ns_) return false;
  const std::uint64_t from_ns = std::max(since_ns + policy_.filter.min_ns, *examining_since_ns_);
  return now_ns_ >= from_ns + kExaminedWithinNs;
}

std::shared_ptr<const ExaminedWait> StallLog::wait_of(const StallId& id, bool estimated) const {
  for (const Window& window : examined_) {
    if (auto wait = window.waits->find(id.tid, id.since_ns, estimated)) return wait;
  }
  return nullptr;
}

// Applies what another window says of open records. A wait that turns out to be idle is no stall,
// nor is one that was told by its reason alone, if its stack is not certain; the next walk shows it
// among the untold ones. A later doubt does not change what one stack said for certain. A stall
// without room counts as beyond the limit from the next walk on.
void StallLog::reconsider() {
  for (auto record = open_.begin(); record != open_.end();) {
    const auto next = std::next(record);
    Stall& stall = record->second.stall;
    auto wait = examines(static_cast<std::uint32_t>(stall.kind))
                    ? wait_of(record->first, stall.estimated)
                    : nullptr;
    if (wait && wait != stall.wait) {
      auto before = std::exchange(stall.wait, std::move(wait));
      note_past(stall.tgid, static_cast<std::uint32_t>(stall.kind), stall.wait.get());
      const Verdict verdict = judge(stall, stall.duration_ns, false);
      const bool is_doubted = verdict == Verdict::Untold && stall.told;
      if (verdict == Verdict::Idle || (is_doubted && !before)) {
        take_back(take(record));
      } else if (is_doubted) {
        stall.wait = std::move(before);
      } else if (verdict == Verdict::Told && !stall.told) {
        if (told_ < kMaxInProgress) {
          untold_.give_back(record->first);
          stall.told = true;
          ++told_;
        } else {
          (void)take(record);
        }
      }
    }
    record = next;
  }
}

// Makes room for the record of an untold block. A block that loses its record counts at once if
// this walk has already shown it, otherwise when the walk does.
bool StallLog::make_room(const offcpud_thread& thread) {
  if (!untold_.is_full()) return true;
  const auto gone = untold_.who_gives_way(thread.cgroup_id, thread.tgid);
  if (!gone) return false;
  const Open record = take(open_.find(*gone));
  if (record.walks_without == 0) ++without_record_[static_cast<std::size_t>(WaitFor::Unknown)];
  return true;
}

StallLog::Open StallLog::take(const std::map<StallId, Open>::iterator& record) {
  Open taken = std::move(record->second);
  if (taken.stall.told) {
    --told_;
  } else {
    untold_.give_back(record->first);
  }
  open_.erase(record);
  return taken;
}

// One user's crowd may take all records: metrics and alerts must still know the stalls of others.
void StallLog::count_unlisted(const Stall& stall, const offcpud_thread& thread) {
  const WaitFor wait_for = stall.wait ? stall.wait->wait_for : WaitFor::Unknown;
  UnlistedStalls& sum = unlisted_[{thread.cgroup_id, wait_for}];
  sum.labels = stall.labels;
  sum.wait_for = wait_for;
  ++sum.threads;
  sum.oldest.merge({.ns = age_ns(thread), .estimated = stall.estimated});
}

void StallLog::open_if_stalled(const offcpud_thread& thread) {
  const std::uint64_t age = age_ns(thread);
  if ((thread.flags & (OFFCPUD_THREAD_IDLE | OFFCPUD_THREAD_UNKNOWN)) != 0) return;
  if (!may_be_stall(thread.kind, age)) return;
  const StallId id{thread.tid, thread.since_ns};
  if (closed_.contains(id)) return;

  Stall stall;
  stall.estimated = (thread.flags & OFFCPUD_THREAD_ESTIMATED) != 0;
  if (examines(thread.kind)) stall.wait = wait_of(id, stall.estimated);
  note_past(thread.tgid, thread.kind, stall.wait.get());
  if (is_surely_idle(thread.kind, stall.wait.get())) {
    ++without_record_[static_cast<std::size_t>(stall.wait->wait_for)];
    return;
  }
  stall.comm = comm_text(thread.comm);
  stall.process_comm = comm_of(thread.tgid);
  stall.labels = labels_of_(thread.cgroup_id);
  stall.kind = thread.kind;
  stall.tgid = thread.tgid;
  const Verdict verdict = judge(stall, age, is_late(thread.since_ns));
  if (verdict == Verdict::Idle) ++without_record_[static_cast<std::size_t>(stall.wait->wait_for)];
  if (verdict != Verdict::Told && verdict != Verdict::Untold) return;
  stall.told = verdict == Verdict::Told;
  if (stall.told) {
    if (told_ == kMaxInProgress) return count_unlisted(stall, thread);
    ++told_;
  } else {
    if (!make_room(thread)) {
      ++without_record_[static_cast<std::size_t>(WaitFor::Unknown)];
      return;
    }
    untold_.hold(id, thread.cgroup_id, thread.tgid);
  }
  stall.tid = thread.tid;
  stall.local_tid = thread.local_tid;
  stall.local_tgid = thread.local_tgid;
  stall.since_ns = thread.since_ns;
  stall.since = wall_of(thread.since_ns);
  stall.duration_ns = age;
  note_peers(stall);
  open_.emplace(id, Open{.stall = std::move(stall)});
}

StallFilter StallLog::filter() const {
  StallFilter filter = policy_.filter;
  filter.kinds |= policy_.examined_kinds;
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
  if (record == open_.end()) return record_unseen(end, false);

  Open ended = take(record);
  put_end(ended.stall, end);
  close(std::move(ended));
}

// Records a block that began and ended between two walks, or was below its threshold in the last
// one. The kernel sends no events of waits for work.
void StallLog::record_unseen(const offcpud_stall_end& end, bool late) {
  const std::uint64_t length_ns = end.ended_ns - end.since_ns;
  if (!may_be_stall(end.kind, length_ns)) return;
  Stall stall;
  stall.estimated = end.estimated != 0;
  const StallId id{end.tid, end.since_ns};
  if (examines(end.kind)) stall.wait = wait_of(id, stall.estimated);
  note_past(end.tgid, end.kind, stall.wait.get());
  if (is_surely_idle(end.kind, stall.wait.get())) return;
  // It ended before lasting blocks were first examined, as when the daemon starts. No sample has
  // its whole length. Most of these waits are idle.
  if (late && !stall.wait && first_window_ns_ && end.ended_ns < *first_window_ns_) return;
  stall.comm = comm_text(end.comm);
  stall.process_comm = comm_of(end.tgid);
  stall.labels = labels_of_(end.cgroup_id);
  stall.kind = end.kind;
  stall.tgid = end.tgid;
  const bool waits = !late && unjudged_.size() < kMaxInProgress;
  const Verdict verdict = judge(stall, length_ns, !waits);
  if (verdict == Verdict::Later) unjudged_.push_back({end, now_ns_ + kExaminedWithinNs});
  if (verdict == Verdict::Later || verdict == Verdict::Untold) remember_closed(id);
  if (verdict != Verdict::Told) return;
  stall.tid = end.tid;
  stall.local_tid = local_id(end.tid);
  stall.local_tgid = local_id(end.tgid);
  stall.since_ns = end.since_ns;
  stall.since = wall_of(end.since_ns);
  put_end(stall, end);
  note_peers(stall);
  close({.stall = std::move(stall)});
}

// Blocks that ended before their stack was examined: it is in the window of their end.
void StallLog::look_again() {
  for (const Ended& each : std::exchange(unjudged_, {})) {
    const StallId id{each.end.tid, each.end.since_ns};
    const bool examined = wait_of(id, each.end.estimated != 0) != nullptr;
    if (examined || now_ns_ >= each.until_ns) {
      record_unseen(each.end, true);
    } else {
      unjudged_.push_back(each);
    }
  }
}

void StallLog::put_end(Stall& stall, const offcpud_stall_end& end) const {
  stall.duration_ns = end.ended_ns - end.since_ns;
  stall.ended_at = wall_of(end.ended_ns);
  if (end.waker < OFFCPUD_WAKERS) stall.woken_from = static_cast<offcpud_waker>(end.waker);
  stall.waker_tid = end.waker_tid;
  stall.waker_comm = comm_of(end.waker_tid);
}

void StallLog::remember_closed(const StallId& id) {
  if (closed_.size() >= kMaxClosed) closed_.clear();
  closed_.emplace(id, walks_);
}

void StallLog::close(Open record) {
  Stall& stall = record.stall;
  remember_closed({stall.tid, stall.since_ns});
  if (!stall.told) return;
  stall.ended = true;
  const auto ended = std::make_shared<const Stall>(std::move(stall));
  if (!record.announced) changes_.begun.push_back(ended);
  changes_.ended.push_back(ended);
  ended_.push_front(ended);
  set_keep(keep_);
}

void StallLog::take_back(Open record) {
  if (!record.announced) return;
  record.stall.ended = true;
  record.stall.taken_back = true;
  changes_.ended.push_back(std::make_shared<const Stall>(std::move(record.stall)));
}

std::vector<StallId> StallLog::wanted() const {
  std::vector<StallId> blocks;
  for (const auto& [id, open] : open_) {
    if (!open.stall.detail) blocks.push_back(id);
  }
  std::ranges::sort(blocks, {}, [this](const StallId& id) {
    return std::pair(!open_.at(id).stall.told, id.since_ns);
  });
  return blocks;
}

void StallLog::describe(const StallId& block, WaitDetail detail) {
  const auto record = open_.find(block);
  if (record != open_.end()) record->second.stall.detail = std::move(detail);
}

StallChanges StallLog::take_changes() {
  for (auto& [id, open] : open_) {
    if (!open.stall.told || std::exchange(open.announced, true)) continue;
    changes_.begun.push_back(snapshot(open));
  }
  return std::exchange(changes_, {});
}

std::shared_ptr<const StallList> StallLog::list() const {
  auto list = std::make_shared<StallList>();
  list->stalls.reserve(open_.size() + ended_.size());
  list->examines = policy_.examined_kinds != 0;
  list->untold_blocks = without_record_;
  for (const auto& [key, sum] : unlisted_) {
    list->unlisted.push_back(sum);
    list->unlisted.back().oldest.ns += now_ns_ - walked_ns_;
  }
  for (const auto& [id, open] : open_) {
    (open.stall.told ? list->stalls : list->untold).push_back(snapshot(open));
    if (open.stall.told && !open.stall.detail) ++list->detail_pending;
  }
  list->untold_blocks[static_cast<std::size_t>(WaitFor::Unknown)] += list->untold.size();
  for (auto* stalls : {&list->stalls, &list->untold}) {
    std::ranges::sort(*stalls, {}, [](const auto& stall) { return stall->since_ns; });
  }
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
