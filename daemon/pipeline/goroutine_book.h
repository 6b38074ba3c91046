// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/wait_for.h"
#include "pipeline/goroutine_window.h"

namespace offcpud {

// How long the goroutines of a cgroup have waited since the daemon's start, by WaitFor; estimates
// that never go down.
using GoroutineTimes = std::array<std::uint64_t, kWaitForNames.size()>;

// The waits of goroutines by cgroup, and the windows of the last minutes. Single-threaded.
class GoroutineBook {
 public:
  static constexpr std::chrono::minutes kAge{10};
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20;  // of windows, about
  static constexpr std::size_t kMostCgroups = 4'096;  // the waits of further ones are not counted

  // `home`: the cgroup whose series count the waits of a cgroup, by path.
  void add(std::shared_ptr<const GoroutineWindow> window,
           const std::function<std::string(const std::string& cgroup)>& home);
  // Adds what `cgroup` has to `into`, and forgets it.
  void fold(std::string_view cgroup, std::string_view into);

  // Null: its goroutines have not waited.
  [[nodiscard]] std::shared_ptr<const GoroutineTimes> of(std::string_view cgroup) const;
  // Oldest first.
  [[nodiscard]] std::vector<std::shared_ptr<const GoroutineWindow>> windows() const;

 private:
  using Times = std::array<double, kWaitForNames.size()>;  // ns
  struct Kept {
    std::shared_ptr<const GoroutineWindow> window;
    std::size_t bytes = 0;
  };

  std::map<std::string, Times, std::less<>> cgroups_;
  std::deque<Kept> kept_;
  std::size_t bytes_ = 0;
};

}  // namespace offcpud
