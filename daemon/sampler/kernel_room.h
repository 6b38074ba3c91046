// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/share_owner.h"
#include "mappings/fair_share.h"
#include "mappings/turn_queue.h"
#include "sampler/entry_turns.h"
#include "unwind/table_store.h"

namespace offcpud {

// Decides which processes have their mappings in the kernel's map, and when its entries are written
// and removed, so that nobody can use up the map or the time for it. A process that has none is
// "outside": its stacks are walked by the files that it maps, like those of new processes, and more
// of them end early.
//
// Entries take a tenth of the thread's time, whoever causes them. They are written and removed at
// once while there is time to spare; beyond that they wait, and users take turns. Children of large
// processes always wait, because most end or execute something else soon. When the map is full, the
// largest processes of the largest user are evicted (who_gives_way); they return once half of the
// map is free. Entries of ended and evicted processes are removed step by step, first those that
// keep a living process outside. Used by one thread; the tables must outlive it.
class KernelRoom {
 public:
  // The most CPU time that can be saved up; and the time available at the start, for processes that
  // run already.
  static constexpr std::chrono::milliseconds kSaved{50};
  static constexpr std::chrono::milliseconds kAtStart{500};

  using UserOf = std::function<std::optional<std::uint32_t>(std::uint32_t tgid)>;
  KernelRoom(TableStore& tables, UserOf user_of, MonotonicTime now);

  // A process begins, and inherits mappings with at least `entries` entries. False: it is outside
  // until its turn, and until the entries of an earlier process with its number are removed.
  bool began(std::uint32_t tgid, std::size_t entries);
  // Removes its mappings: at once, or by remove_some().
  Status ended(std::uint32_t tgid);

  // Whether the tables should contain the process's mappings.
  [[nodiscard]] bool admits(std::uint32_t tgid) const { return !outside_.contains(tgid); }

  // Whether `entries` entries of the process may be written or removed now, by the caller.
  bool has_time_for(std::uint32_t tgid, std::size_t entries);

  // Whether a mapping that begins at `begin` is to be put in now. False: at the process's next
  // turn.
  [[nodiscard]] bool puts_now(std::uint32_t tgid, std::uint64_t begin) const;
  // Makes the mappings of an admitted process that begin at `begin` or above wait for its turns.
  void put_later(std::uint32_t tgid, std::uint64_t begin);
  // Has all entries of an admitted process removed, step by step. Until then, and until its turn
  // after that, the process is outside.
  void put_anew(std::uint32_t tgid);

  // Makes room for a mapping. False: there is none, so the process itself is evicted. Calls
  // `taken_out` for each evicted process, this one included.
  using TakenOut = std::function<void(std::uint32_t tgid)>;
  bool make_room(std::uint32_t tgid, const TakenOut& taken_out = {});

  // Whether time is left for those that wait, and for what is to be removed.
  bool has_time(MonotonicTime now);
  // Accounts CPU time for entries, including the time for finding whose turn it is. AtOnce never
  // overdraws the budget, so that it cannot use up the time of those that wait.
  enum class When { AtOnce, InTurn };
  void spend(When when, std::chrono::nanoseconds cpu);

  // The next process whose turn it is to be put in (EntryTurns), admitted from now on. Nothing:
  // none waits.
  using Entering = EntryTurns::Entry;
  std::optional<Entering> next_waiting();
  // Lets the remaining mappings of the process wait for its next turn, unless it was evicted. Call
  // it only right after next_waiting().
  void put_rest(const Entering& entering);

  // Removes some mappings: of processes that wait for the removal (users take turns), and at every
  // fourth call those of ended and evicted processes. False: nothing is left.
  Result<bool> remove_some();

  // The user of the process; asked for only once.
  ShareOwner user_of(std::uint32_t tgid) { return uid_of(tgid); }

  // The evicted processes.
  [[nodiscard]] std::vector<OverShare> over_share() const;
  [[nodiscard]] std::uint64_t taken_out() const { return taken_out_; }

 private:
  struct Outside {
    std::size_t size = 0;    // entries that it began with, or had
    bool taken_out = false;  // false: it waits
    std::optional<std::uint32_t> uid;
  };
  void forget(std::uint32_t tgid);
  void queue(std::uint32_t tgid, const Outside& one);
  void queue_new();
  void queue_to_wait(const Entering& entering);
  std::optional<Entering> pop_waiting();
  [[nodiscard]] std::optional<Entering> waiting_entry(std::uint32_t tgid) const;
  [[nodiscard]] std::optional<ShareOwner> expected_user(std::uint32_t tgid) const;
  void push_replaced(std::uint32_t tgid);
  std::optional<std::uint32_t> next_to_remove();
  void leave(std::uint32_t tgid, const Outside& one);
  void take_out(std::uint32_t tgid, std::size_t size);
  std::optional<std::uint32_t> uid_of(std::uint32_t tgid);
  [[nodiscard]] std::size_t prefixes_of(std::uint32_t tgid) const;
  [[nodiscard]] std::vector<ShareHolder> holders();

  TableStore& tables_;
  UserOf user_of_;
  std::unordered_map<std::uint32_t, Outside> outside_;
  // Waiting processes whose users are not known yet. Each is in outside_ or later_, too.
  TurnQueue new_;
  EntryTurns waiting_;    // by expected_user()
  EntryTurns returning_;  // the evicted ones
  bool return_is_next_ = false;
  // Admitted processes, and the address from which on their mappings wait.
  std::unordered_map<std::uint32_t, std::uint64_t> later_;
  // Processes whose entries are to be removed; none of them is in a queue above.
  EntryTurns replaced_;  // they wait to be put in after that
  TurnQueue leaving_;    // they ended or were evicted
  unsigned removals_ = 0;
  // Known users of processes.
  std::unordered_map<std::uint32_t, ShareOwner> users_;
  // Users of processes that have ended or executed another program.
  std::unordered_map<std::uint32_t, ShareOwner> earlier_users_;
  std::chrono::nanoseconds budget_ = kAtStart;  // CPU time that entries may use now
  MonotonicTime refilled_;
  // Entries since used_since_ for which there was no time to spare, by process and by user. Unknown
  // users count as one.
  std::unordered_map<std::uint32_t, std::size_t> used_;
  std::unordered_map<ShareOwner, std::size_t> used_by_users_;
  MonotonicTime used_since_;
  std::uint64_t taken_out_ = 0;
};

}  // namespace offcpud
