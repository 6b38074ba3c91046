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
#include "stacks/wait_sums.h"

namespace offcpud {

// A block that has ended, with a sample of its stack, and what it was for.
ChainedBlock chained(const EndedBlock& block, const offcpud_sample& sample, WaitFor wait_for);

// Sums what threads did while others waited for them, by the path from one thread to the next: for
// each cgroup of the waiters, and for each process. Used by one thread.
class ChainSums {
 public:
  // The most rows of one cgroup and of one process: the longest ones; the rest is Unknown.
  static constexpr std::size_t kMostOfCgroup = 64, kMostOfProcess = 32;
  // The most rows of all processes together. Those of the processes that waited longest are kept;
  // of the others nothing is told.
  static constexpr std::size_t kMostOfProcesses = 2'048;
  // While summing: paths of one cgroup or process, of all cgroups and of all processes, and pieces
  // of all waits. What is beyond is Unknown.
  static constexpr std::size_t kMostPaths = 512, kMostOfAll = 8'192, kMostPieces = 200'000;
  // A thread is said to run only if it was watched for at least this many sampling intervals of its
  // process: otherwise its short waits are in no sample.
  static constexpr double kLeastWatched = 3;

  // By row of processes (bpf/sample.h): the longest sampling interval.
  using Intervals = std::array<std::chrono::nanoseconds, OFFCPUD_SAMPLE_ROWS>;

  // All must outlive the object.
  ChainSums(WindowPaths& paths, PeerNames& names, const Intervals& intervals)
      : paths_(paths), names_(names), intervals_(intervals) {}

  // Divides the part after `begin_ns` of each of the `waits` that is actionable, is not for a child
  // of the waiter, and has a peer whose thread is known. `is_whole`: no block is missing in the
  // chains. If one is, a thread is said to run only if its own account says so.
  void add(std::span<const ChainedBlock> waits, std::uint64_t begin_ns,
           const IntervalChains& chains, bool is_whole);

  struct Chains {
    std::vector<ChainWaits> of_cgroups;    // by cgroup
    std::vector<ChainWaits> of_processes;  // who waited longest comes first
    std::size_t processes_left_out = 0;
  };
  Chains take() &&;

 private:
  using Path = std::vector<std::pair<WaitFor, std::string>>;
  using Key = std::tuple<WaitFor, std::string, Path, ChainWaits::End, BusyAfter>;
  struct Sum {
    WaitTime time;
    double watched_ns = 0;   // of Runs: in all samples
    double interval_ns = 0;  // of Runs: the longest of those who were watched
  };
  using Rows = std::map<Key, Sum>;
  using Process = std::pair<std::uint32_t, std::uint64_t>;  // number and start
  // The sums of all cgroups, or of all processes.
  template <class Whose>
  struct Table {
    std::map<Whose, Rows> rows;
    std::size_t paths = 0;  // in all

    void add(const Whose& whose, const Rows& of_wait, double stands_for) {
      Rows& sums = rows[whose];
      for (const auto& [key, sum] : of_wait) paths += add_path(sums, paths, key, sum, stands_for);
    }
  };

  [[nodiscard]] Rows divide(const ChainedBlock& wait, std::uint64_t from_ns, const std::string& on,
                            const IntervalChains& chains, bool is_whole);
  // Returns by how many paths `rows` has grown.
  static std::size_t add_path(Rows& rows, std::size_t in_all, const Key& key, const Sum& of_wait,
                              double stands_for);
  static void add_unseen(Rows& rows);
  static std::vector<ChainWaits> rows_of(Rows& sums, const ChainWaits& whose, std::size_t most);
  void take_processes(Chains& into);

  WindowPaths& paths_;
  PeerNames& names_;
  const Intervals& intervals_;
  Table<std::string> cgroups_;  // of the waiters, by path
  Table<Process> processes_;    // in the daemon's PID namespace
  std::size_t pieces_ = 0;
};

}  // namespace offcpud
