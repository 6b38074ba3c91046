// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace offcpud {

// Names devices as sysfs does: "nvme0n1p2". File systems without a device, such as network file
// systems and FUSE, have type and source as their name, "nfs4 server:/export", if this process sees
// the mount. All others have their numbers as their name, "0:45". Looks each name up once; after
// kMost names it begins anew. Reads mounts once after each forget_mounts(). Used by one thread.
class DeviceNames {
 public:
  static constexpr std::size_t kMost = 1'024;

  // `root`: a folder with a link MAJOR:MINOR to the directory of each device. `mounts`: a file such
  // as /proc/PID/mountinfo.
  explicit DeviceNames(std::string root = "/sys/dev/block",
                       std::string mounts = "/proc/self/mountinfo")
      : root_(std::move(root)), mountinfo_(std::move(mounts)) {}

  // Call it for each window, because the kernel reuses the number of a file system without a device
  // as soon as that is unmounted.
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
