// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attribution/subject.h"
#include "base/clock.h"
#include "holders/deadlocks.h"
#include "pipeline/idle_pasts.h"
#include "pipeline/reading_source.h"
#include "pipeline/stall.h"
#include "pipeline/stall_id.h"
#include "pipeline/untold_shares.h"

namespace offcpud {

class StallPeers;

// The facts that decide after how long a block is a stall. Texts are valid UTF-8.
struct BlockFacts {
  std::string_view cgroup;  // path
  std::string_view comm, process_comm;
  std::size_t kind = 0;  // enum offcpud_hist_kind, a blocked one
};

// After how long a block is a stall; nullopt: never.
struct StallThresholds {
  using Threshold = std::optional<std::chrono::nanoseconds>;

  Threshold by_reason;   // where only its reason is known
  Threshold actionable;  // where its stack says that somebody may want to act
  // A rule asks for this idle-prone reason: by_reason holds whatever the stack says.
  bool reason_named = false;
};

struct StallPolicy {
  StallFilter filter;  // blocks that may be stalls by their reason
  std::function<StallThresholds(const BlockFacts&)> thresholds = [](const BlockFacts&) {
    return StallThresholds{};
  };
  std::uint32_t named_kinds = 0;  // idle-prone reasons (bits) that some rule asks for
  // The reasons (bits) for which the stacks of lasting blocks are examined: take_examined(). Any
  // other reason decides at once.
  std::uint32_t examined_kinds = 0;
};

// Changes since the last call. A stall that is in both lists began and ended.
struct StallChanges {
  std::vector<std::shared_ptr<const Stall>> begun;
  std::vector<std::shared_ptr<const Stall>> ended;
};

// Keeps the stalls. A record opens when a walk shows a block beyond its threshold whose stack has
// been examined, and closes with the kernel's event of its end. A block that began and ended
// between two walks gets its record from the event alone. If walks no longer show an open block and
// no event came (the ring was full), the record is given up after two walks; its end is then
// unknown.
//
// Where stacks are examined, a block is a stall if its stack says for certain that it waits for
// something on which somebody can act, whatever its reason. A wait for work or a timer is no stall.
// Nor is a wait for a child, because the child itself shows what it waits for. A block of which
// nothing is certain is kept, but not told. If the stack is not examined within kExaminedWithin
// after the least threshold of all rules, the reason decides: disk, kernel and stopped make a
// stall, unless the last examined block of the same process and reason was idle. Any other block is
// not told. A block is no stall if it ended before the first window did. A stall is taken back if
// it turns out to be idle, or if its reason decided and its stack, examined later, is not certain.
// Single-threaded.
class StallLog {
 public:
  using LabelsOf = std::function<std::shared_ptr<const SubjectLabels>(std::uint64_t cgroup_id)>;

  // The most records of told stalls in progress. Further stalls count in StallList::unlisted, and
  // get a record when they end.
  static constexpr std::size_t kMaxInProgress = 10'000;
  // Untold blocks in progress. Beyond this number, a block gets a record only in place of one of a
  // process or cgroup that has more (UntoldShares); all count in StallList::untold_blocks.
  static constexpr std::size_t kMaxUntold = 1'000;
  // Room for the windows of two passes: a window takes 10 s at most, a pass 5 min.
  static constexpr std::size_t kMaxWindows = 64;
  // The most blocks in these windows; the last two windows stay in any case.
  static constexpr std::size_t kMaxExamined = 200'000;
  static constexpr std::chrono::seconds kExaminedWithin{30};

  // `labels_of` never returns null; it is called once for each block that may be a stall. `keep`:
  // how many records of ended stalls are kept.
  StallLog(StallPolicy policy, LabelsOf labels_of, std::size_t keep);

  // A record that is open stays open under any new policy.
  void set_policy(StallPolicy policy);
  void set_keep(std::size_t keep);

  // Call once a pass. `walk`: the last complete one; null, or the same as in the pass before, if
  // there is no new one. `ends`: the events since the last pass. `now` and `wall` are the same
  // instant.
  void update(const std::shared_ptr<const ThreadWalk>& walk,
              std::span<const offcpud_stall_end> ends, MonotonicTime now, WallTime wall);

  // Takes the latest window, for the next two calls of update(). The last two windows are always
  // kept, since update() may be called several times within one. `deadlocks`: of the same window;
  // may be null.
  void take_examined(std::shared_ptr<const WaitWindow> window,
                     const std::vector<Deadlock>* deadlocks = nullptr);
  [[nodiscard]] std::size_t windows() const { return examined_.size(); }

  // The blocks whose ends the kernel must report: those that may be stalls under the policy, and
  // those of open records, which an earlier policy may have opened.
  [[nodiscard]] StallFilter filter() const;

  // Stalls in progress that have not been looked up: first those that are told, then the others,
  // each the oldest first.
  [[nodiscard]] std::vector<StallId> wanted() const;

  // Stores the result of a look-up. It is dropped if the stall is no longer in progress.
  void describe(const StallId& block, WaitDetail detail);

  // Both include all that was passed in so far, so call them at the end of a pass.
  [[nodiscard]] StallChanges take_changes();
  [[nodiscard]] std::shared_ptr<const StallList> list() const;

 private:
  enum class Verdict : std::uint8_t {
    None,   // no stall
    Later,  // its stack is still to be examined
    Idle,   // it waits for work, a timer or a child
    Untold,
    Told,
  };
  struct Ended {
    offcpud_stall_end end;
    std::uint64_t until_ns;  // until then its stack may still be examined
  };
  struct Open {
    Stall stall;                 // duration_ns: as of the last walk that showed it
    unsigned walks_without = 0;  // since that walk
    bool announced = false;      // was in StallChanges::begun
  };

  struct Window {
    std::shared_ptr<const WaitWindow> waits;
    std::uint64_t updates;                              // updates_ when it came
    std::shared_ptr<const StallPeers> peers = nullptr;  // null: it is an older one
  };

  void follow_walk();
  void count_unlisted(const Stall& stall, const offcpud_thread& thread);
  void open_if_stalled(const offcpud_thread& thread);
  Open take(const std::map<StallId, Open>::iterator& record);
  void apply_end(const offcpud_stall_end& end);
  void record_unseen(const offcpud_stall_end& end, bool late);
  void look_again();
  void reconsider();
  void put_end(Stall& stall, const offcpud_stall_end& end) const;
  void close(Open record);
  void take_back(Open record);
  void note_peers(Stall& stall) const;
  void remember_closed(const StallId& id);
  bool make_room(const offcpud_thread& thread);
  [[nodiscard]] bool examines(std::uint32_t kind) const;
  // Needs its labels, names, reason and wait. `late`: nothing will examine its stack any more.
  [[nodiscard]] Verdict judge(const Stall& stall, std::uint64_t age_ns, bool late) const;
  [[nodiscard]] Verdict reason_decides(const Stall& stall, Verdict by_reason) const;
  void note_past(std::uint32_t tgid, std::uint32_t kind, const ExaminedWait* wait);
  [[nodiscard]] bool is_late(std::uint64_t since_ns) const;
  [[nodiscard]] bool may_be_stall(std::uint32_t kind, std::uint64_t age_ns) const;
  [[nodiscard]] bool is_surely_idle(std::uint32_t kind, const ExaminedWait* wait) const;
  [[nodiscard]] std::shared_ptr<const ExaminedWait> wait_of(const StallId& id,
                                                            bool estimated) const;
  [[nodiscard]] std::shared_ptr<const Stall> snapshot(const Open& open) const;

  [[nodiscard]] const offcpud_thread* find_thread(std::uint32_t tid) const;
  [[nodiscard]] std::string comm_of(std::uint32_t tid) const;
  [[nodiscard]] std::uint32_t local_id(std::uint32_t id) const;
  [[nodiscard]] WallTime wall_of(std::uint64_t monotonic_ns) const;

  StallPolicy policy_;
  LabelsOf labels_of_;
  std::size_t keep_;

  std::shared_ptr<const ThreadWalk> walk_;
  bool local_ids_differ_ = false;  // the daemon is in its own PID namespace
  std::uint64_t walks_ = 0;
  std::uint64_t now_ns_ = 0;
  WallTime::duration wall_offset_{};  // wall clock minus CLOCK_MONOTONIC in this pass

  std::optional<std::uint64_t> examining_since_ns_;  // CLOCK_MONOTONIC; nothing: not yet
  std::optional<std::uint64_t> first_window_ns_;     // its end
  std::deque<Window> examined_;                      // latest first
  std::uint64_t updates_ = 0;
  UntoldBlocks without_record_{};  // blocks of the last walk that are no stalls
  IdlePasts idle_pasts_;
  std::deque<Ended> unjudged_;  // ends of blocks without a record, oldest first

  std::map<StallId, Open> open_;
  std::size_t told_ = 0;                            // those of open_ that are told
  UntoldShares untold_{kMaxUntold};                 // the others
  std::deque<std::shared_ptr<const Stall>> ended_;  // latest first; keep_ at most
  // Blocks whose end is known, with walks_ at that time. A walk spread over several passes may have
  // read such a thread before its end and become complete after it.
  std::map<StallId, std::uint64_t> closed_;
  StallChanges changes_;
  std::uint64_t dropped_ = 0;
  // Stalls beyond the limit, by cgroup id and what they are for; ages are those in the last walk.
  std::map<std::pair<std::uint64_t, WaitFor>, UnlistedStalls> unlisted_;
  std::uint64_t walked_ns_ = 0;  // now_ns_ when the last walk came
};

}  // namespace offcpud
