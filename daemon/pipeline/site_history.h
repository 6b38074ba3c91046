// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "pipeline/wait_window.h"

namespace offcpud {

// What the threads of each cgroup waited for within one window. Immutable.
struct SiteWindow {
  MonotonicTime begin, end;
  std::vector<SiteWaits> sites;  // of all processes together; by cgroup; idle ones without site
  double lost_ns = 0;            // within the window, of blocks whose samples were lost

  [[nodiscard]] std::chrono::nanoseconds length() const { return end - begin; }
};

// The examined windows of the last minutes, summed by cgroup. Single-threaded.
class SiteHistory {
 public:
  static constexpr std::chrono::minutes kAge{10};
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20;
  // An older window says nothing of now: sampling is off, or hangs.
  static constexpr std::chrono::seconds kFresh{60};

  void add(std::shared_ptr<const WaitWindow> window);
  // Forgets everything: what is examined from now on is not comparable.
  void clear();

  // The last window, by process; null: there is none that says anything of `now`.
  [[nodiscard]] std::shared_ptr<const WaitWindow> last(MonotonicTime now) const;
  // Oldest first; the last one is that of last(). Empty if there is none.
  [[nodiscard]] std::vector<std::shared_ptr<const SiteWindow>> windows(MonotonicTime now) const;

 private:
  struct Kept {
    std::shared_ptr<const SiteWindow> window;
    std::size_t bytes = 0;  // about
  };
  std::shared_ptr<const WaitWindow> last_;
  std::vector<Kept> kept_;
  std::size_t bytes_ = 0;
};

}  // namespace offcpud
