// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "pipeline/disk_load.h"

namespace offcpud {

// Sums the load of each disk by each cgroup, since the start and over the last minutes. Sums never
// go down. A cgroup that finds no room is added to "(other)" of the disk; the sums of a cgroup that
// makes room, or was removed, are added to "(removed)". Single-threaded; what it returns is
// immutable.
class DiskLoadBook {
 public:
  // Pairs of a disk and a cgroup that are named. The pair with the least load of late makes room
  // for a pair that has more than twice as much in one call of add().
  static constexpr std::size_t kMostNamed = 256;
  // Disks that are named since the start; all others are summed as "(other)".
  static constexpr std::size_t kMostDisks = 64;
  // How long steps are kept.
  static constexpr std::chrono::minutes kAge{10};

  using LabelsOf = std::function<std::shared_ptr<const SubjectLabels>(const std::string& path)>;
  // `labels_of` must be valid as long as the object.
  explicit DiskLoadBook(LabelsOf labels_of) : labels_of_(std::move(labels_of)) {}

  // Adds what was done since the last pass. `by`: the path of a cgroup, or a name in parentheses.
  void add(const std::string& disk, const std::string& by, const DiskLoad& load);

  // Stops naming these cgroups, which were removed.
  void forget(const std::set<std::string>& paths);

  // Ends a pass: what add() got since the last call happened until `now`.
  void end_pass(MonotonicTime now);

  // Sorted by disk and cgroup.
  [[nodiscard]] std::vector<DiskLoadRow> sums() const;

  // Oldest first; the last one may grow with the next pass.
  [[nodiscard]] std::vector<std::shared_ptr<const DiskLoadStep>> steps() const;

 private:
  using Pair = std::pair<std::string, std::string>;  // disk, by
  struct Sum {
    DiskLoad load;
    DiskLoad of_step;       // since the last step was closed
    bool has_step = false;  // something is in of_step
    double recent = 0;      // sum of amount(), of which half is forgotten in a minute
  };

  Pair place_for(const std::string& disk, const std::string& by, const DiskLoad& load);
  void make_room(const DiskLoad& load);
  void retire(std::map<Pair, Sum>::iterator pair);
  [[nodiscard]] std::shared_ptr<const DiskLoadStep> open_step() const;

  LabelsOf labels_of_;
  std::map<Pair, Sum> sums_;
  std::set<std::string> disks_;
  std::size_t named_ = 0;  // of sums_
  MonotonicTime step_began_{}, last_pass_{};
  std::vector<std::shared_ptr<const DiskLoadStep>> closed_;
};

}  // namespace offcpud
