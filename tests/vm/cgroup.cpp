// SPDX-License-Identifier: Apache-2.0
#include "cgroup.h"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "child_process.h"
#include "report.h"

namespace offcpud::test {

void write_to(const std::string& path, const std::string& value) {
  std::ofstream file(path);
  file << value << std::flush;
  if (!file) give_up("write " + path);
}

std::uint64_t cgroup_id_of(const std::string& path) {
  struct stat facts {};
  must(::stat(path.c_str(), &facts) == 0, "stat cgroup");
  return facts.st_ino;
}

Cgroup::Cgroup(const char* leaf) : name(leaf), path(std::string(kCgroups) + "/" + leaf) {
  must(::mkdir(path.c_str(), 0755) == 0, "mkdir cgroup");
  id = cgroup_id_of(path);
}

void Cgroup::add(pid_t process) const {
  write_to(path + "/cgroup.procs", std::to_string(process));
}

void Cgroup::remove() const {
  for (int i = 0; i < 100 && ::rmdir(path.c_str()) != 0; ++i) {
    sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace offcpud::test
