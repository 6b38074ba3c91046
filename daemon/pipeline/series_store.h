// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attribution/subject.h"
#include "pipeline/reading_source.h"
#include "pipeline/view.h"
#include "pipeline/wait_window.h"

namespace offcpud {

// What was accounted to one cgroup path within an interval.
struct AccountedTime {
  std::uint64_t accounted_ns = 0;    // in running time and finished waits
  std::uint64_t unaccounted_ns = 0;  // modulo 2^64: may be "negative"
};
using AccountedByPath = std::map<std::string, AccountedTime, std::less<>>;

// `path`: a cgroup path, or the name of a series without one, such as "(other)".
std::shared_ptr<const SubjectLabels> labels_of_series(std::string_view path);

// The exported series, keyed by cgroup path. It accounts the difference between a reading and the
// last one of the same place to the path that the cgroup id has at that moment. So a series never
// goes down, whatever happens to ids: a restarted unit continues its series, a name found late
// moves nothing, and a series that does not fit adds to "(other)" from then on. Single-threaded.
class SeriesStore {
 public:
  // Folds a path other than `path`, one whose series are worth less; false: there is none.
  using MakeRoom = std::function<bool(std::string_view path)>;

  explicit SeriesStore(std::size_t max_series) : max_series_(max_series) {}

  // Applies to later series; existing ones stay.
  void set_max_series(std::size_t max_series) { max_series_ = max_series; }

  // Called when a new series of a path finds no room.
  void set_make_room(MakeRoom make_room) { make_room_ = std::move(make_room); }

  // Sets the start of histograms created from now on: no episode that they count ended earlier.
  void set_start_of_new(WallTime start) { start_of_new_ = start; }

  // Sets the time at which counting began. "(other)" and "(removed)" take over older counts, so
  // they start then, whenever they are created.
  void set_counting_since(WallTime since) { counting_since_ = since; }

  // Sets the reasons (bits) whose blocks add_waits() reports. Blocks for other reasons count as
  // WaitFor::Unknown, exactly as the kernel counts them.
  void set_examined_kinds(std::uint32_t kinds) { examined_kinds_ = kinds; }

  // Begin a series of `path` at 0, unless it has one. False: there is no room, and "(other)" has
  // what it would count. Waits after wakeups and after preemptions get their series together, as
  // offcpud_kept_off_seconds_total does not tell them apart.
  bool open(std::string_view path, std::size_t kind);
  bool open_waits(std::string_view path, WaitFor wait_for, WallTime since);

  // Adds ended waits to `path`; none of them ended before `since`.
  void add_waits(std::string_view path, const EndedWaits& ended, WallTime since);

  // Accounts the difference between `reading` and the last one of its place.
  void account(std::string_view path, const CgroupReading& reading);

  // Forgets a place that was closed: a later reading of the same place counts from zero.
  void forget(std::string_view path, const CgroupReading& reading);

  // Adds the series of `path` to those of `into`, which take their places.
  void fold(std::string_view path, std::string_view into);

  // What was accounted to each path since the last call, even where "(other)" holds its series.
  // Paths that were folded away, or closed without a series, are left out.
  [[nodiscard]] AccountedByPath take_accounted() { return std::exchange(accounted_, {}); }

  [[nodiscard]] bool contains(std::string_view path) const { return series_.contains(path); }
  [[nodiscard]] std::vector<std::string> paths() const;
  [[nodiscard]] const std::map<std::string, SubjectSeries, std::less<>>& series() const {
    return series_;
  }
  [[nodiscard]] std::size_t histogram_series() const { return histogram_series_; }
  [[nodiscard]] std::uint64_t folded_series() const { return folded_total_; }

 private:
  using Histograms = std::array<std::unique_ptr<LatencyHistogram>, OFFCPUD_HIST_KINDS>;
  struct Counters {
    std::uint64_t running_ns = 0;
    std::array<std::uint64_t, OFFCPUD_TAKERS> preemptions{};
    std::array<std::uint64_t, OFFCPUD_WAKERS> wakeups{};

    [[nodiscard]] Counters since(const Counters& before) const;
    friend bool operator==(const Counters&, const Counters&) = default;
  };
  struct Baseline {
    Counters counters;
    std::uint64_t unaccounted_ns = 0;
    Histograms histograms;
  };

  SubjectSeries& subject(std::string_view path);
  void begin(std::string_view path, std::size_t kind);
  void begin_waits(std::string_view path, WaitFor wait_for, WallTime since);
  void add(std::string_view path, std::size_t kind, const LatencyHistogram& increase);
  void add(std::string_view path, const Counters& increase);
  template <typename Increase>
  void add_waits(std::string_view path, WaitFor wait_for, const Increase& increase, WallTime since);
  bool admit(std::string_view path, std::size_t series, std::size_t places);
  bool admit_row(std::string_view path);
  void account(std::string_view path, std::uint64_t accounted_ns, std::uint64_t unaccounted_ns);
  void erase_accounted(std::string_view path);

  std::size_t max_series_;
  MakeRoom make_room_;
  WallTime start_of_new_, counting_since_;
  std::size_t histogram_series_ = 0;
  std::map<std::string, SubjectSeries, std::less<>> series_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, Baseline> baselines_;  // by cgroup id and place
  std::uint32_t examined_kinds_ = (1U << OFFCPUD_BLOCKED_KINDS) - 1;
  // By path, and kind or OFFCPUD_HIST_KINDS + WaitFor, so that each counts once.
  std::set<std::pair<std::string, std::size_t>> folded_;
  std::uint64_t folded_total_ = 0;
  AccountedByPath accounted_;
};

}  // namespace offcpud
