// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/clock.h"
#include "base/share_owner.h"
#include "mappings/fair_share.h"
#include "sampler/entry_turns.h"
#include "unwind/table_store.h"

namespace offcpud {

// Decides which processes have their mappings in the kernel's map, and when these are put in, so
// that one with many mappings can use up neither the map nor the time for filling it. Stacks of the
// other processes are walked by the files that they map, like those of new processes, and more of
// them end early.
//
// A forked process with many mappings waits, because most end or execute something else soon. So
// does the rest of a process that maps many at once. When the map is full, the largest processes of
// the largest user are evicted (who_gives_way); they return once half of the map is free. What an
// ended process had is removed by and by. Used by one thread; the tables must outlive it.
class KernelRoom {
 public:
  using UserOf = std::function<std::optional<std::uint32_t>(std::uint32_t tgid)>;
  KernelRoom(TableStore& tables, UserOf user_of, MonotonicTime now);

  // A process begins with this many mappings. False: it waits.
  bool began(std::uint32_t tgid, std::size_t inherited);
  // Removes its mappings: at once if they are few, otherwise in remove_some().
  Status ended(std::uint32_t tgid);

  // Whether the tables should contain the process's mappings.
  [[nodiscard]] bool admits(std::uint32_t tgid) const { return !outside_.contains(tgid); }

  // Whether a mapping that begins there is to be put in now. False: it is when the process has its
  // next turn.
  [[nodiscard]] bool puts_now(std::uint32_t tgid, std::uint64_t begin) const;
  // Mappings of an admitted process that begin there and above wait for its turns.
  void put_later(std::uint32_t tgid, std::uint64_t begin);

  // Makes room for a mapping. False: there is none, so the process itself is evicted. Calls
  // `taken_out` for each evicted process, this one included.
  using TakenOut = std::function<void(std::uint32_t tgid)>;
  bool make_room(std::uint32_t tgid, const TakenOut& taken_out = {});

  // The next process whose turn it is to be put in (EntryTurns), of a user for whom `may` is true.
  // It is admitted from now on; the caller reports by spend() what it took. Nothing: none waits, or
  // it is too early.
  using Entering = EntryTurns::Entry;
  std::optional<Entering> next_waiting(MonotonicTime now, const EntryTurns::May& may);
  // CPU time for mappings of waiting processes: a tenth of the thread's.
  void spend(std::chrono::nanoseconds cpu) { budget_ -= cpu; }
  // The others of its mappings wait for its next turn, unless it was evicted. Call it only right
  // after next_waiting().
  void put_rest(const Entering& entering);

  // Removes some mappings of ended processes. False: nothing is left.
  Result<bool> remove_some();

  // The user of the process; asked for only once.
  ShareOwner user_of(std::uint32_t tgid) { return uid_of(tgid); }

  // The evicted processes.
  [[nodiscard]] std::vector<OverShare> over_share() const;
  [[nodiscard]] std::uint64_t taken_out() const { return taken_out_; }

 private:
  struct Outside {
    std::size_t size = 0;    // mappings that it began with, or prefixes that it had
    bool taken_out = false;  // false: it waits
    std::optional<std::uint32_t> uid;
  };
  void forget(std::uint32_t tgid);
  void queue_new();
  void take_out(std::uint32_t tgid, std::size_t size);
  std::optional<std::uint32_t> uid_of(std::uint32_t tgid);
  [[nodiscard]] std::size_t prefixes_of(std::uint32_t tgid) const;

  TableStore& tables_;
  UserOf user_of_;
  std::unordered_map<std::uint32_t, Outside> outside_;
  std::deque<std::uint32_t> new_;  // began since, and maybe ended; their users were not asked for
  EntryTurns waiting_;
  EntryTurns returning_;  // the evicted ones
  bool return_is_next_ = false;
  // Of admitted processes that wait: mappings from this address on.
  std::unordered_map<std::uint32_t, std::uint64_t> later_;
  std::deque<std::uint32_t> leaving_;  // ended ones whose mappings are to be removed
  // Known users of processes.
  std::unordered_map<std::uint32_t, std::optional<std::uint32_t>> users_;
  std::chrono::nanoseconds budget_{};  // of CPU time for waiting processes now
  MonotonicTime refilled_;
  std::uint64_t taken_out_ = 0;
};

}  // namespace offcpud
