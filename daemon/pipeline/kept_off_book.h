// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "pipeline/taker.h"
#include "pipeline/view.h"

namespace offcpud {

// Sums who kept whom off the CPU, by pairs of cgroup paths. Sums never go down, whoever comes and
// goes. For each cgroup that waited, it names the other cgroups that kept it off longest of late;
// the rest is added to "(other)". A name that must make room for another, or is gone, leaves its
// sum in "(removed)". Single-threaded; what of() and record() return is immutable.
class KeptOffBook {
 public:
  using LabelsOf = std::function<std::shared_ptr<const SubjectLabels>(const std::string& path)>;

  // `labels_of` must be valid as long as the object.
  explicit KeptOffBook(LabelsOf labels_of) : labels_of_(std::move(labels_of)) {}

  // How many other cgroups are named for each one, from now on.
  void set_most_named(std::size_t most) { most_named_ = most; }

  // `taker`: the path of the cgroup that had the CPU, perhaps the waiting one itself, or one of the
  // names in parentheses.
  void add(std::string_view path, const std::string& taker, std::uint64_t ns);

  // Adds the sums of `path` to those of `into`, and forgets `path`.
  void fold(std::string_view path, std::string_view into);

  // Stops naming these cgroups, in which nothing runs any more: their sums go to "(removed)".
  void forget_takers(const std::set<std::string>& paths);

  // Null: nobody has kept this one off so far.
  [[nodiscard]] std::shared_ptr<const KeptOff> of(std::string_view path);

  // Ends a pass: adds `view`, whose rows have what of() returned, to the steps of the last minutes.
  // Returns the steps before it, oldest first.
  std::vector<std::shared_ptr<const KeptOffStep>> record(const View& view);

 private:
  struct Pair {
    std::uint64_t ns = 0;
    double recent_ns = 0;  // of the last minutes, older ones count less
  };
  struct Account {
    std::map<std::string, Pair, std::less<>> pairs;
    std::map<std::string, double> others;  // recent_ns of those that are not named
    std::size_t named = 0;                 // other cgroups in `pairs`
    std::shared_ptr<const KeptOff> shown;  // null: changed since
  };

  Pair* find_room(Account& account, std::string_view path, const std::string& taker,
                  std::uint64_t ns);
  void retire(Account& account, std::map<std::string, Pair, std::less<>>::iterator pair);
  void age(std::chrono::duration<double> elapsed);
  [[nodiscard]] std::shared_ptr<const SubjectLabels> labels_of(const std::string& taker);

  LabelsOf labels_of_;
  std::size_t most_named_ = 8;
  std::map<std::string, Account, std::less<>> accounts_;
  MonotonicTime aged_{};
  std::vector<std::shared_ptr<const KeptOffStep>> steps_;
};

}  // namespace offcpud
