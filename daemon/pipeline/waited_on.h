// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/wait_for.h"
#include "pipeline/past_holders.h"
#include "pipeline/wait_window.h"

namespace offcpud {

// How long the threads of one cgroup have waited for something on one unit, address or device,
// since the daemon's start; an unbiased estimate that never goes down.
struct WaitedOn {
  WaitFor wait_for = WaitFor::Unknown;
  std::string on;  // as PeerWaits::on
  std::uint64_t ns = 0;
  double variance_ns2 = 0;  // of ns
};

// The waits that ended, by cgroup, what they were for, and whom or what they waited on. In each
// cgroup, the longest pairs of `for` and `on` have a place. A pair that was longer of late takes
// the place of another, whose time then goes to "(other)", so that the sum stays true. When all
// cgroups together have no room, the one that has most gives way. Single-threaded.
class WaitedOnStore {
 public:
  // The most pairs of one cgroup, besides "(other)", "(unknown)" and "(nobody)".
  static constexpr std::size_t kMostOfCgroup = 50;
  // The most pairs of all cgroups together, besides these.
  static constexpr std::size_t kMost = 8'000;

  // The waits of one cgroup that ended in a window. `now`: its end, which does not go back.
  void add(std::string_view cgroup, const PeerWaits& waits, MonotonicTime now);
  // Adds what `cgroup` has to `into`, and forgets it.
  void fold(std::string_view cgroup, std::string_view into, MonotonicTime now);

  // By what they were for, then by `on`. Null: none.
  using Rows = std::shared_ptr<const std::vector<WaitedOn>>;
  [[nodiscard]] Rows of(std::string_view cgroup);

  [[nodiscard]] std::size_t size() const { return named_; }

 private:
  using Key = std::pair<WaitFor, std::string>;
  struct Sum {
    double ns = 0, variance_ns2 = 0;
    double recent_ns = 0;  // halves in kHalfLifeOfInterest
  };
  struct Cgroup {
    std::map<Key, Sum> named;
    std::map<Key, Sum> unnamed;        // "(other)" and the like
    std::map<Key, double> candidates;  // recent_ns of those that have no room
    MonotonicTime faded{};             // when recent_ns was last made smaller
    Rows rows;                         // null: they have changed
  };

  void fade(Cgroup& cgroup, MonotonicTime now) const;
  bool has_place(Cgroup& cgroup, const Key& key);
  bool takes_place(Cgroup& cgroup, const Key& key, double ns);
  void drop_least(Cgroup& cgroup);
  void drop(Cgroup& cgroup, std::map<Key, Sum>::iterator one);
  Cgroup* largest();

  std::map<std::string, Cgroup, std::less<>> cgroups_;
  std::size_t named_ = 0;  // of all cgroups
};

// Whom or what each cgroup's threads waited on within one window. Immutable.
struct PeerWindow {
  struct Row {
    std::string cgroup;  // path
    WaitFor wait_for = WaitFor::Unknown;
    std::string on;
    WaitTime time;   // within the window, of waits that ended or not
    WaitTime child;  // part of `time`, as in PeerWaits
  };
  MonotonicTime begin, end;
  std::vector<Row> rows;  // none twice; by cgroup
  std::vector<ChainWaits> chains;
  std::vector<ReleasedWaits> released;
  std::shared_ptr<const PastHolders> holders;  // null: no holder of a lock was known

  [[nodiscard]] std::chrono::nanoseconds length() const { return end - begin; }
};

// The windows of the last minutes. Single-threaded.
class PeerHistory {
 public:
  static constexpr std::chrono::minutes kAge{10};
  // A window keeps the longest rows; the rest of each cgroup is "(other)".
  static constexpr std::size_t kMostRows = 2'000;
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20;

  void add(const WaitWindow& window, std::shared_ptr<const PastHolders> holders = nullptr);
  void clear() { *this = {}; }

  // Oldest first.
  [[nodiscard]] std::vector<std::shared_ptr<const PeerWindow>> windows() const;

 private:
  struct Kept {
    std::shared_ptr<const PeerWindow> window;
    std::size_t bytes = 0;
  };
  static void keep_longest(std::vector<ChainWaits>& chains);

  std::vector<Kept> kept_;
  std::size_t bytes_ = 0;
};

// One answer to: whom did these threads wait on?
struct WaitedOnRow {
  WaitFor wait_for = WaitFor::Unknown;
  std::string on;
  WaitTime time;
};

// What the threads of the chosen cgroups waited on in the windows that ended after `since`: summed
// by what for and `on`, the longest first.
std::vector<WaitedOnRow> waited_on(std::span<const std::shared_ptr<const PeerWindow>> windows,
                                   MonotonicTime since,
                                   const std::function<bool(std::string_view cgroup)>& is_chosen);

}  // namespace offcpud
