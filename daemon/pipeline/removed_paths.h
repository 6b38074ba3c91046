// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace offcpud {

// The paths whose cgroups are gone. Their series linger, in the order in which they went, until
// they are folded. Counts that come later for a folded path must not begin its series anew, so the
// path is remembered for a while. Single-threaded.
class RemovedPaths {
 public:
  // No cgroup has this path at `now`. Does nothing if that is known already.
  void note(const std::string& path, MonotonicTime now);
  // A cgroup has this path again.
  void revive(const std::string& path);
  // The series of the path were folded at `now`.
  void set_folded(const std::string& path, MonotonicTime now);
  void forget_folded(MonotonicTime before);

  [[nodiscard]] bool is_folded(std::string_view path) const;
  // The path that lingers longest, other than `except`; null: none does.
  [[nodiscard]] const std::string* longest(std::string_view except) const;
  // The paths that linger since `before` or longer, the longest first.
  [[nodiscard]] std::vector<std::string> lingering_since(MonotonicTime before) const;

 private:
  std::map<std::string, MonotonicTime, std::less<>> lingering_, folded_;  // since when
  std::set<std::pair<MonotonicTime, std::string>> by_time_;               // those that linger
};

}  // namespace offcpud
