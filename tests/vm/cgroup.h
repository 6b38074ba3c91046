// SPDX-License-Identifier: Apache-2.0
// A cgroup of the guest's hierarchy, made for a check and known by the id that the kernel uses.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace offcpud::test {

inline constexpr const char* kCgroups = "/sys/fs/cgroup";

void write_to(const std::string& path, const std::string& value);
std::uint64_t cgroup_id_of(const std::string& path);

struct Cgroup {
  std::string name, path;
  std::uint64_t id = 0;

  explicit Cgroup(const char* leaf);
  void add(pid_t process) const;
  void remove() const;  // tries for two seconds: busy for a moment after its last process has gone
};

}  // namespace offcpud::test
