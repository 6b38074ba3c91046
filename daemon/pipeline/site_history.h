// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "pipeline/wait_window.h"

namespace offcpud {

// What the threads of one cgroup waited for at one site within a window.
struct CgroupWaits {
  // Never null; the windows of a SiteHistory share them.
  std::shared_ptr<const std::string> cgroup, site;
  WaitFor wait_for = WaitFor::Unknown;
  WaitTime time, child;                       // as in SiteWaits
  std::uint32_t lasting = 0, on_sockets = 0;  // as in SiteWaits
  WaitAge oldest;
};

// What the threads of each cgroup waited for within one window. Immutable.
struct SiteWindow {
  MonotonicTime begin, end;
  // By cgroup, SiteHistory::kMostRows at most and the rest as "(other)"; idle ones without site.
  std::vector<CgroupWaits> sites;
  double lost_ns = 0;  // within the window, of blocks whose samples were lost

  [[nodiscard]] std::chrono::nanoseconds length() const { return end - begin; }
};

// The examined windows of the last minutes, summed by cgroup. Single-threaded.
class SiteHistory {
 public:
  static constexpr std::chrono::minutes kAge{10};
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20;
  // The most rows of one window. Actionable waits are kept first, then the longest. This number
  // leaves room for kAge even with windows of 10 s, the longest possible.
  static constexpr std::size_t kMostRows = 1'000;
  // An older window does not show the present: sampling is off, or hangs.
  static constexpr std::chrono::seconds kFresh{60};

  void add(std::shared_ptr<const WaitWindow> window);
  // Forgets everything: what is examined from now on is not comparable.
  void clear();

  // The last window, by process; null: there is none that says anything of `now`.
  [[nodiscard]] std::shared_ptr<const WaitWindow> last(MonotonicTime now) const;
  // Oldest first; the last one is that of last(). Empty if there is none.
  [[nodiscard]] std::vector<std::shared_ptr<const SiteWindow>> windows(MonotonicTime now) const;

 private:
  using Text = std::shared_ptr<const std::string>;
  struct Shared {
    Text text;
    std::size_t uses = 0;  // in rows of kept windows
  };
  struct Kept {
    std::shared_ptr<const SiteWindow> window;
    std::size_t bytes = 0;  // without texts
  };
  [[nodiscard]] SiteWindow by_cgroup(const WaitWindow& window);
  Text shared(const std::string& text);
  void release(const Text& text);
  void forget(const Kept& oldest);

  std::shared_ptr<const WaitWindow> last_;
  std::vector<Kept> kept_;
  std::size_t bytes_ = 0;                               // of kept windows and their texts, about
  std::unordered_map<std::string_view, Shared> texts_;  // of kept windows
};

}  // namespace offcpud
