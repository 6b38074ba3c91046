// SPDX-License-Identifier: Apache-2.0
#include "runtime/rate_limited.h"

namespace offcpud {

std::optional<std::string> RateLimited::admit(std::string_view key, std::string_view message) {
  const MonotonicTime now = clock_.now();
  const std::scoped_lock lock(mutex_);
  const auto found = sites_.find(key);
  if (found == sites_.end()) {
    sites_.emplace(key, Site{now});
    return std::string(message);
  }
  Site& site = found->second;
  if (now - site.last_admitted < period_) {
    ++site.suppressed;
    return std::nullopt;
  }
  std::string line(message);
  if (site.suppressed > 0) line += " (" + std::to_string(site.suppressed) + " more suppressed)";
  site = Site{now};
  return line;
}

}  // namespace offcpud
