// SPDX-License-Identifier: Apache-2.0
// /proc/PID/mountinfo, as both of its readers see it.
#include "attribution/cgroup_mount.h"
#include "fuzz.h"
#include "mappings/mount_table.h"
#include "text.h"

namespace offcpud::fuzz {
namespace {

using Answer = MountTable::Answer;

// What a mount of each type is, whatever comes before it: one that nobody knows answers for itself
// no more than FUSE does.
void require_answer_of(std::string_view before, const std::string& type, Answer answer) {
  std::string more(before);
  more += "\n4242 1 0:1 / /zz rw - " + type + " source rw\n";
  require(MountTable::parse(more).of_path("/zz") == answer, "the last mount on a point counts");
}

}  // namespace

void test(std::string_view input) {
  const MountTable table = MountTable::parse(input);
  for (std::uint64_t id = 0; id < 64; ++id) (void)table.of_mount(id);
  for (const char* path : {"/", "/usr/bin/x", "/mnt/a b/c", "", "relative"}) {
    (void)table.of_path(path);
  }
  for (const char* type : {"nfs4", "fuse", "fuse.sshfs", "fuseblk", "9p"}) {
    require_answer_of(input, type, Answer::Remote);
  }
  for (const char* type : {"overlay", "virtiofs", "ext", "nofs", "ext4x"}) {
    require_answer_of(input, type, Answer::Other);
  }
  require_answer_of(input, "ext4", Answer::Local);
  const MountTable nothing = MountTable::parse("");
  for (std::uint64_t id = 0; id < 64; ++id) {
    require(!table.is_local_overlay(id, nothing), "layers on no known mount are not local");
  }
  if (const auto point = cgroup2_mount(input)) {
    require(point->native().starts_with('/'), "a mount point is absolute");
  }
}

std::vector<std::string> seeds() {
  return {content_of("/proc/self/mountinfo"), content_of("/proc/1/mountinfo"),
          "36 35 98:0 /mnt1 /mnt/a\\040b rw,noatime master:1 - fuse.sshfs x rw,errors=continue\n"
          "50 1 0:50 / / rw - overlay overlay rw,lowerdir=/a:/b,upperdir=/u,workdir=/w\n",
          "30 23 0:26 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"};
}

}  // namespace offcpud::fuzz
