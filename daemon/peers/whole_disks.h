// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace offcpud {

// Converts the kernel's name of a disk to its name in sysfs: "cciss/c0d0" becomes "cciss!c0d0". A
// path to an NVMe disk becomes the disk, "nvme0c1n1" becomes "nvme0n1": threads wait for the disk,
// but requests name the path (drivers/nvme/host/multipath.c).
std::string disk_name(std::string_view kernels);

// Returns the whole disks to which requests for a block device go, by their names in sysfs: for the
// partition "vda1" it is "vda"; for "dm-0" and "md0" the disks below them, down to eight layers;
// for a whole disk itself; for a device that does not exist nothing. Returns at most kMostDisks.
// Reads sysfs at each call; `root` is the folder with a link for each device and partition.
inline constexpr std::size_t kMostDisks = 64;
std::vector<std::string> whole_disks(std::string_view device,
                                     const std::string& root = "/sys/class/block");

}  // namespace offcpud
