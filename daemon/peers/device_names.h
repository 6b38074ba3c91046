// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace offcpud {

// Names of devices as sysfs has them, "nvme0n1p2"; of file systems without a device, as network
// file systems and FUSE, their type and source, "nfs4 server:/export", as far as this process sees
// their mount; else "0:45". Asks for each name once; after kMost names it asks anew. Reads mounts
// once after each forget_mounts(). Used by one thread.
class DeviceNames {
 public:
  static constexpr std::size_t kMost = 1'024;

  // `root`: what has MAJOR:MINOR as links to directories of devices. `mounts`: a mountinfo.
  explicit DeviceNames(std::string root = "/sys/dev/block",
                       std::string mounts = "/proc/self/mountinfo")
      : root_(std::move(root)), mountinfo_(std::move(mounts)) {}

  // Call it for each window: the kernel gives numbers of file systems without a device to others as
  // soon as these are unmounted.
  void forget_mounts();

  // `device`: a dev_t of the kernel (include/linux/kdev_t.h). Valid until the next call.
  const std::string& of(std::uint32_t device);

 private:
  [[nodiscard]] std::string in_sysfs(const std::string& number) const;
  [[nodiscard]] std::string in_mounts(const std::string& number);

  std::string root_, mountinfo_;
  // Of file systems without a device, by number; no value: not read since forget_mounts().
  std::optional<std::unordered_map<std::string, std::string>> mounts_;
  std::unordered_map<std::uint32_t, std::string> known_;
};

}  // namespace offcpud
