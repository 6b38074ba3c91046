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

// Which processes have their mappings in the kernel's map, so that one that has more than others
// takes neither the map nor the time that it costs to fill it. Stacks of processes that are not in
// it are walked by the files that they map, as those of new processes, and more of them end early.
//
// A process with many mappings that was forked waits: most end or execute something else before it
// matters. When the map is full, those with most are taken out (who_gives_way), and come back once
// half of it is free. Used by one thread; the tables must outlive it.
class KernelRoom {
 public:
  using UserOf = std::function<std::optional<std::uint32_t>(std::uint32_t tgid)>;
  KernelRoom(TableStore& tables, UserOf user_of, MonotonicTime now);

  // A process begins with so many mappings. False: it waits.
  bool began(std::uint32_t tgid, std::size_t inherited);
  void ended(std::uint32_t tgid);

  // Whether mappings of the process are to be put into the tables.
  [[nodiscard]] bool admits(std::uint32_t tgid) const { return !outside_.contains(tgid); }

  // Makes room for a mapping. False: the process itself has to do without, with all of its
  // mappings. `taken_out` is told of each process whose mappings had to go, this one included.
  using TakenOut = std::function<void(std::uint32_t tgid)>;
  bool make_room(std::uint32_t tgid, const TakenOut& taken_out = {});

  struct Entering {
    std::uint32_t tgid = 0;
    std::uint64_t from = 0;  // mappings that begin below this address are in
  };
  // A process whose turn it is: the one that put_rest() was called for, or the one with the fewest
  // mappings. It is admitted from now on; the caller says by spend() how many mappings it put in.
  // Nothing: none, or not now.
  std::optional<Entering> next_waiting(MonotonicTime now);
  void spend(std::size_t mappings) { budget_ -= static_cast<double>(mappings); }
  // It could not put in all of them at once: the others are next, unless the process ends or is
  // taken out before. Only right after next_waiting().
  void put_rest(const Entering& entering);

  // Whose process it is; asked for once.
  ShareOwner user_of(std::uint32_t tgid) { return uid_of(tgid); }

  // Those that were taken out.
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
  std::unordered_map<std::uint32_t, std::optional<std::uint32_t>> users_;  // that were asked for
  double budget_ = 0;  // mappings of those that wait that may be put in now
  MonotonicTime refilled_;
  std::uint64_t taken_out_ = 0;
};

}  // namespace offcpud
