// SPDX-License-Identifier: Apache-2.0
// /proc/PID/mountinfo, as both of its readers see it.
#include "attribution/cgroup_mount.h"
#include "fuzz.h"
#include "mappings/mount_table.h"
#include "text.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  const MountTable table = MountTable::parse(input);
  for (std::uint64_t id = 0; id < 64; ++id) (void)table.of_mount(id);
  for (const char* path : {"/", "/usr/bin/x", "/mnt/a b/c", "", "relative"}) {
    (void)table.of_path(path);
  }
  // A mount that nobody else answers for stays one, whatever comes before it.
  std::string more(input);
  more += "\n4242 1 0:1 / /zz rw - nfs4 server: rw\n";
  require(MountTable::parse(more).of_path("/zz/x") == MountTable::Answer::Remote,
          "the last mount on a point counts");
  if (const auto point = cgroup2_mount(input)) {
    require(point->native().starts_with('/'), "a mount point is absolute");
  }
}

std::vector<std::string> seeds() {
  return {content_of("/proc/self/mountinfo"), content_of("/proc/1/mountinfo"),
          "36 35 98:0 /mnt1 /mnt/a\\040b rw,noatime master:1 - fuse.sshfs x rw,errors=continue\n"
          "30 23 0:26 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"};
}

}  // namespace offcpud::fuzz
