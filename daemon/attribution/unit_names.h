// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "attribution/unit_name.h"

namespace offcpud {

// The names of units by cgroup, each made once. Single-threaded.
class UnitNames {
 public:
  const std::string& of(std::string_view cgroup) {
    const auto found = names_.find(cgroup);
    if (found != names_.end()) return found->second;
    return names_.emplace(cgroup, unit_name(cgroup)).first->second;
  }

 private:
  std::map<std::string, std::string, std::less<>> names_;
};

}  // namespace offcpud
