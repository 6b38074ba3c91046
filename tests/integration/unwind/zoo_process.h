// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/unique_handle.h"

namespace offcpud {

using Addresses = std::vector<std::uint64_t>;  // innermost first

// A running stack_zoo; ends with this object.
class ZooProcess {
 public:
  ZooProcess(const std::string& program, const std::string& kind);
  ZooProcess(const ZooProcess&) = delete;
  ZooProcess& operator=(const ZooProcess&) = delete;
  ~ZooProcess();

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool is_ready() const { return waiter_ > 0; }
  // The thread that waits, and the return addresses above its waits as its own runtime sees them.
  [[nodiscard]] pid_t waiter() const { return waiter_; }
  [[nodiscard]] const Addresses& above() const { return above_; }

 private:
  pid_t pid_ = -1;
  UniqueFd input_, output_;
  pid_t waiter_ = 0;
  Addresses above_;
};

// What elfutils' eu-stack sees of every thread of a process, which it stops for a moment.
std::map<pid_t, Addresses> eu_stack(pid_t process);

}  // namespace offcpud
