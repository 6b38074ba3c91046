// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kept_off.h"
#include "kernel/bpf_session.h"
#include "kernel/map_view.h"
#include "pipeline/kept_off_increase.h"

namespace offcpud {

// Reads who kept the cgroups off the CPU. The kernel has few places for takers, so this adds up
// what it reads, and empties the places of one window while the programs use the other. Owned by
// the BpfReadingSource, on its thread; the session must outlive it.
class KeptOffTimes {
 public:
  static Result<KeptOffTimes> open(BpfSession& session);

  // Adds what the place of this cgroup has gained since it was read last.
  void read(std::uint64_t cgroup_id, std::uint32_t subject);

  // Empties the place, for another cgroup. Nobody may add to it any more.
  void release(std::uint32_t subject);

  // Call it once all places have been read: empties the other window and lets the programs use it,
  // unless they may still be adding to it.
  void turn_window(MonotonicTime now);

  // What has been added since the last call, each pair of cgroup and taker once.
  [[nodiscard]] std::vector<KeptOffIncrease> take();

  // Parts of waits that were accounted to "(other)" because a cgroup had no place for one more.
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

 private:
  using ByTaker = std::map<std::uint64_t, std::uint64_t>;
  struct Read {
    std::array<std::uint64_t, OFFCPUD_KEPT_OFF_SUMS> sums_ns{};
    std::uint64_t refused = 0;
    std::array<ByTaker, OFFCPUD_TAKER_WINDOWS> takers;
  };

  KeptOffTimes(BpfSession& session, MappedArray<offcpud_kept_off_times> times)
      : session_(&session), times_(std::move(times)) {}
  [[nodiscard]] Read sum_of_shards(std::uint32_t subject) const;
  void empty(std::uint32_t subject, std::uint32_t window);

  BpfSession* session_;  // never null; a pointer, so that the object can be moved
  MappedArray<offcpud_kept_off_times> times_;
  std::unordered_map<std::uint32_t, Read> last_;                             // by subject
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> gained_;  // cgroup and taker
  std::uint64_t refused_ = 0;
  MonotonicTime turned_{};
};

}  // namespace offcpud
