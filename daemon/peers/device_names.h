// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace offcpud {

// Names of devices as sysfs has them, "nvme0n1p2"; "0:45" of what has none there, such as a network
// file system. Asks for each name once; after kMost names it asks anew. Used by one thread.
class DeviceNames {
 public:
  static constexpr std::size_t kMost = 1'024;

  // `root`: what has MAJOR:MINOR as links to directories of devices.
  explicit DeviceNames(std::string root = "/sys/dev/block") : root_(std::move(root)) {}

  // `device`: a dev_t of the kernel (include/linux/kdev_t.h). Valid until the next call.
  const std::string& of(std::uint32_t device);

 private:
  std::string root_;
  std::unordered_map<std::uint32_t, std::string> known_;
};

}  // namespace offcpud
