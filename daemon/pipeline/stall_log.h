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
#include <vector>

#include "attribution/subject.h"
#include "base/clock.h"
#include "pipeline/sample_source.h"
#include "pipeline/stall.h"

namespace offcpud {

// One block of one thread, for as long as the daemon runs: the kernel side gives a block the same
// since_ns whenever it is asked.
struct StallId {
  std::uint32_t tid = 0;       // in the initial PID namespace
  std::uint64_t since_ns = 0;  // CLOCK_MONOTONIC

  friend bool operator==(const StallId&, const StallId&) = default;
  friend bool operator<(const StallId& a, const StallId& b) {
    return a.tid != b.tid ? a.tid < b.tid : a.since_ns < b.since_ns;
  }
};

// What decides after how long a blocked thread is a stall. Texts are valid UTF-8.
struct BlockFacts {
  std::string_view cgroup;  // path
  std::string_view comm, process_comm;
  std::size_t kind = 0;  // enum offcpud_hist_kind, a blocked one
};

struct StallPolicy {
  StallFilter filter;  // what no rule can make a stall; the kernel needs to know no more
  // nullopt: never, however long.
  std::function<std::optional<std::chrono::nanoseconds>(const BlockFacts&)> threshold =
      [](const BlockFacts&) { return std::nullopt; };
};

// What happened since it was last asked. A stall that is in both began and ended.
struct StallChanges {
  std::vector<std::shared_ptr<const Stall>> begun;
  std::vector<std::shared_ptr<const Stall>> ended;
};

// Keeps the stalls: a record opens when a walk shows a block that has passed its threshold, and
// closes with the kernel's event of its end. A block that began and ended between two walks makes a
// record of its event alone. One that the walk no longer shows while no event came (the ring was
// full) is given up after two walks; when it ended is then unknown. Single-threaded.
class StallLog {
 public:
  using LabelsOf = std::function<std::shared_ptr<const SubjectLabels>(std::uint64_t cgroup_id)>;

  static constexpr std::size_t kMaxInProgress = 10'000;

  // `labels_of` never returns null; it is asked once for each block that may be a stall. `keep`:
  // records of ended stalls.
  StallLog(StallPolicy policy, LabelsOf labels_of, std::size_t keep);

  // A record that is open stays a stall, whatever the new policy says of it.
  void set_policy(StallPolicy policy) { policy_ = std::move(policy); }
  void set_keep(std::size_t keep);

  // One pass. `walk` is the last complete one: null, or that of the pass before, when there is
  // nothing new. `ends` are the events since the last pass; `now` and `wall` are the same instant.
  void update(const std::shared_ptr<const ThreadWalk>& walk,
              std::span<const offcpud_stall_end> ends, MonotonicTime now, WallTime wall);

  // What the kernel has to tell: of what may be a stall under the policy, and how open records end,
  // which may have been opened under another one.
  [[nodiscard]] StallFilter filter() const;

  // Stalls in progress that were not looked at so far, the oldest first.
  [[nodiscard]] std::vector<StallId> wanted() const;

  // What was found out about one of them. Dropped when it is not in progress any more.
  void describe(const StallId& block, WaitDetail detail);

  // With everything that was told since, so ask at the end of a pass.
  [[nodiscard]] StallChanges take_changes();
  [[nodiscard]] std::shared_ptr<const StallList> list() const;

  // Stalls that the last walk showed beyond kMaxInProgress; they get a record when they end.
  [[nodiscard]] std::uint64_t beyond_limit() const { return beyond_limit_; }

 private:
  struct Open {
    Stall stall;                 // duration_ns: when the last walk showed it
    unsigned walks_without = 0;  // since then
    bool announced = false;      // was in StallChanges::begun
  };

  void follow_walk();
  void open_if_stalled(const offcpud_thread& thread);
  void give_up_missing(const std::map<StallId, Open>::iterator& record);
  void apply_end(const offcpud_stall_end& end);
  void record_unseen(const offcpud_stall_end& end);
  void put_end(Stall& stall, const offcpud_stall_end& end) const;
  void close(Stall stall, bool announced);
  [[nodiscard]] bool is_stall(const BlockFacts& facts, std::uint64_t age_ns) const;
  [[nodiscard]] std::shared_ptr<const Stall> snapshot(const Open& open) const;

  [[nodiscard]] const offcpud_thread* find_thread(std::uint32_t tid) const;
  [[nodiscard]] std::string comm_of(std::uint32_t tid) const;
  [[nodiscard]] std::uint32_t local_id(std::uint32_t id) const;
  [[nodiscard]] WallTime wall_of(std::uint64_t monotonic_ns) const;

  StallPolicy policy_;
  LabelsOf labels_of_;
  std::size_t keep_;

  std::shared_ptr<const ThreadWalk> walk_;
  bool local_ids_differ_ = false;  // the daemon is in a PID namespace of its own
  std::uint64_t walks_ = 0;
  std::uint64_t now_ns_ = 0;
  WallTime::duration wall_offset_{};  // of the wall clock from CLOCK_MONOTONIC, in this pass

  std::map<StallId, Open> open_;
  std::deque<std::shared_ptr<const Stall>> ended_;  // the latest first; keep_ at most
  // Blocks whose end is known, with walks_ at that time: a walk that is spread over several passes
  // may have met the thread before the end and be complete after it.
  std::map<StallId, std::uint64_t> closed_;
  StallChanges changes_;
  std::uint64_t dropped_ = 0;
  std::uint64_t beyond_limit_ = 0;
};

}  // namespace offcpud
