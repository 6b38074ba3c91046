// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "pipeline/exemplar.h"

namespace offcpud {

// An exemplar and the series to which it belongs.
struct FoundExemplar {
  std::string cgroup;  // path
  // CLOCK_BOOTTIME; identifies the process together with exemplar.pid
  std::uint64_t process_start_ns = 0;
  std::size_t kind = 0;                  // a blocked enum offcpud_hist_kind
  std::optional<WaitFor> wait_for = {};  // nothing: not examined
  Exemplar exemplar;
};

// The episodes shown with the histograms of cgroups and processes. Durations are divided into
// ranges of two octaves (a factor of 4). Of each range it keeps the longest episode of the latest
// snapshot that has one. Bounded; single-threaded.
class ExemplarBook {
 public:
  static constexpr std::chrono::minutes kKeptFor{10};
  static constexpr std::size_t kMostSubjects = 10'000;  // cgroups, and as many processes
  static constexpr std::size_t kSlotsTogether = 8;

  // Adds the episodes of one snapshot, except those that ended more than kKeptFor ago.
  void add(std::vector<FoundExemplar> found, WallTime now);

  // Drops those that ended more than kKeptFor ago; add() alone would keep them if snapshots
  // stopped.
  void forget_old(WallTime now);

  // Null: it has none.
  [[nodiscard]] std::shared_ptr<const KindExemplars> of_cgroup(const std::string& path) const;
  [[nodiscard]] std::shared_ptr<const KindExemplars> of_process(std::uint32_t pid,
                                                                std::uint64_t start_ns) const;

 private:
  template <typename Key>
  using Kept = std::map<Key, std::shared_ptr<const KindExemplars>>;
  using Process = std::pair<std::uint32_t, std::uint64_t>;

  std::uint64_t round_ = 0;
  Kept<std::string> cgroups_;
  Kept<Process> processes_;
};

}  // namespace offcpud
