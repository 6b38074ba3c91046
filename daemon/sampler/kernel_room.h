// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/share_owner.h"
#include "mappings/fair_share.h"
#include "unwind/table_store.h"

namespace offcpud {

// Decides which processes have their mappings in the kernel's map, so that one with many mappings
// can use up neither the map nor the time for filling it. Stacks of the other processes are walked
// by the files that they map, like those of new processes, and more of them end early.
//
// A forked process with many mappings waits, because most end or execute something else soon. When
// the map is full, the largest processes of the largest user are evicted (who_gives_way); they
// return once half of the map is free. Used by one thread; the tables must outlive it.
class KernelRoom {
 public:
  using UserOf = std::function<std::optional<std::uint32_t>(std::uint32_t tgid)>;
  KernelRoom(TableStore& tables, UserOf user_of, MonotonicTime now);

  // A process begins with this many mappings. False: it waits.
  bool began(std::uint32_t tgid, std::size_t inherited);
  void ended(std::uint32_t tgid);

  // Whether the tables should contain the process's mappings.
  [[nodiscard]] bool admits(std::uint32_t tgid) const { return !outside_.contains(tgid); }

  // Makes room for a mapping. False: there is none, so the process itself is evicted. Calls
  // `taken_out` for each evicted process, this one included.
  using TakenOut = std::function<void(std::uint32_t tgid)>;
  bool make_room(std::uint32_t tgid, const TakenOut& taken_out = {});

  struct Entering {
    std::uint32_t tgid = 0;
    std::uint64_t from = 0;  // mappings that begin below this address were added
  };
  // The next waiting process: the one of put_rest(), or the one with the fewest mappings. It is
  // admitted from now on; the caller reports by spend() how many mappings it added. Nothing: none
  // waits, or it is too early.
  std::optional<Entering> next_waiting(MonotonicTime now);
  void spend(std::size_t mappings) { budget_ -= static_cast<double>(mappings); }
  // Lets next_waiting() return the process once more, for the rest of its mappings, unless it ends
  // or is evicted before. Call it only right after next_waiting().
  void put_rest(const Entering& entering);

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
  void take_out(std::uint32_t tgid, std::size_t size);
  std::optional<std::uint32_t> uid_of(std::uint32_t tgid);

  TableStore& tables_;
  UserOf user_of_;
  std::unordered_map<std::uint32_t, Outside> outside_;
  std::optional<Entering> entering_;
  // Known users of processes.
  std::unordered_map<std::uint32_t, std::optional<std::uint32_t>> users_;
  double budget_ = 0;  // how many mappings of waiting processes may be added now
  MonotonicTime refilled_;
  std::uint64_t taken_out_ = 0;
};

}  // namespace offcpud
