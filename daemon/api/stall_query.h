// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "attribution/cgroup_filter.h"
#include "base/result.h"
#include "base/wait_for.h"
#include "pipeline/stall.h"

namespace offcpud {

// Which stalls a request asks for: the parameters of /api/v1/stalls.
struct StallQuery {
  std::optional<bool> ended;  // state=in_progress|ended
  CgroupFilter cgroup;
  std::string comm;                 // name of the thread or its process; empty: all
  std::optional<std::size_t> kind;  // reason=
  // for=; if given, also admits untold stalls. Unknown: admits all untold ones.
  std::optional<WaitFor> wait_for;
  std::size_t limit = 1'000;

  static constexpr std::size_t kMostLimit = 20'000;

  // Accepts each parameter at most once. Error (ErrorKind::Usage): names the unknown parameter or
  // refused value, and says what is allowed.
  static Result<StallQuery> parse(const std::multimap<std::string, std::string>& parameters);

  [[nodiscard]] bool admits(const Stall& stall) const;
  // The same for a wait that is shown as unusual.
  [[nodiscard]] bool admits_unusual(const Stall& stall) const;

 private:
  [[nodiscard]] bool admits_thread(const Stall& stall) const;
};

}  // namespace offcpud
