// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace offcpud {

// The name under which a disk is in sysfs, of the kernel's name for it: "cciss!c0d0" of
// "cciss/c0d0". One path to an NVMe disk has the name of the disk, "nvme0n1" of "nvme0c1n1": waits
// are on the disk, requests go by a path (drivers/nvme/host/multipath.c).
std::string disk_name(std::string_view kernels);

// The whole disks to which requests for a block device go, by names as sysfs has them: of the
// partition "vda1" it is "vda"; of "dm-0" and "md0" those below, however many layers down. Itself,
// if it is none of these; nothing, if there is no such device. At most kMostDisks. Reads sysfs at
// each call: `root` is what has a link for each device and partition.
inline constexpr std::size_t kMostDisks = 64;
std::vector<std::string> whole_disks(std::string_view device,
                                     const std::string& root = "/sys/class/block");

}  // namespace offcpud
