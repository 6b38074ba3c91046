// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "pipeline/wait_window.h"
#include "sample.h"
#include "sampler/peer_names.h"
#include "sampler/window_paths.h"
#include "stacks/interval_chains.h"

namespace offcpud {

// Sums what threads did while others waited for them, by cgroup of the waiters and by the path from
// one thread to the next. Used by one thread.
class ChainSums {
 public:
  static constexpr std::size_t kMostOfCgroup = 64;  // rows: the longest; the rest is Unknown
  // While summing: paths of one cgroup and of all, and pieces of all waits. What is beyond is
  // Unknown.
  static constexpr std::size_t kMostPaths = 512, kMostOfAll = 8'192, kMostPieces = 200'000;
  // A thread is said to run only if it was watched for at least so many sampling intervals of its
  // process: otherwise its short waits are in no sample.
  static constexpr double kLeastWatched = 3;

  // By row of processes (bpf/sample.h): the longest sampling interval.
  using Intervals = std::array<std::chrono::nanoseconds, OFFCPUD_SAMPLE_ROWS>;

  // All must outlive the object.
  ChainSums(WindowPaths& paths, PeerNames& names, const Intervals& intervals)
      : paths_(paths), names_(names), intervals_(intervals) {}

  // Divides those `waits` that are actionable, are for no child of one's own, and whose peer's
  // thread is known; of each, the part after `begin_ns`. `is_whole`: no block is missing in the
  // chains. If one is, a thread is said to run only if its own account says so.
  void add(std::span<const ChainedBlock> waits, std::uint64_t begin_ns,
           const IntervalChains& chains, bool is_whole);

  std::vector<ChainWaits> take() &&;

 private:
  using Path = std::vector<std::pair<WaitFor, std::string>>;
  // The last element: of Runs, whether the threads' own accounts say so. take() merges both into
  // one row.
  using Key = std::tuple<WaitFor, std::string, Path, ChainWaits::End, bool>;
  struct Sum {
    WaitTime time;
    double watched_ns = 0;   // of Runs: in all samples
    double interval_ns = 0;  // of Runs: the longest of those who were watched
  };
  using Rows = std::map<Key, Sum>;

  [[nodiscard]] Rows divide(const ChainedBlock& wait, const std::string& on,
                            const IntervalChains& chains, bool is_whole);
  void add(Rows& rows, const Key& key, const Sum& of_wait, double stands_for);
  static void add_unseen(Rows& rows);

  WindowPaths& paths_;
  PeerNames& names_;
  const Intervals& intervals_;
  std::map<std::string, Rows> rows_;  // by cgroup of the waiters
  std::size_t paths_in_all_ = 0, pieces_ = 0;
};

}  // namespace offcpud
