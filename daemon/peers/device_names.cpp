// SPDX-License-Identifier: Apache-2.0
#include "peers/device_names.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/device_number.h"
#include "base/file_io.h"
#include "base/mount_line.h"
#include "base/text.h"

namespace offcpud {
namespace {

constexpr std::size_t kMostMounts = std::size_t{4} << 20;  // bytes
constexpr std::size_t kLongest = 96;                       // bytes of a name

// "nfs4 server:/export"
std::string name_of(const MountLine& mount) {
  std::string name(mount.type);
  if (has_server(mount.type)) name += " " + mount.source;
  if (name.size() > kLongest) name.resize(kLongest);
  return to_valid_utf8(name);
}

}  // namespace

std::string DeviceNames::in_sysfs(const std::string& number) const {
  std::error_code gone;
  const auto link = std::filesystem::read_symlink(std::filesystem::path(root_) / number, gone);
  return gone ? std::string() : to_valid_utf8(link.filename().string());
}

// The kernel numbers file systems without a device by itself: their major number is 0.
std::string DeviceNames::in_mounts(const std::string& number) {
  if (!mounts_) {
    mounts_.emplace();
    const auto text = read_file(mountinfo_, kMostMounts);
    for (std::string_view rest = text ? *text : std::string_view(); !rest.empty();) {
      const auto mount = take_mount_line(rest);
      if (!mount || !mount->device.starts_with("0:")) continue;
      mounts_->try_emplace(std::string(mount->device), name_of(*mount));
    }
  }
  const auto found = mounts_->find(number);
  return found == mounts_->end() ? std::string() : found->second;
}

void DeviceNames::forget_mounts() {
  mounts_.reset();
  std::erase_if(known_, [](const auto& name) { return major_of(name.first) == 0; });
}

const std::string& DeviceNames::of(std::uint32_t device) {
  if (const auto known = known_.find(device); known != known_.end()) return known->second;
  if (known_.size() >= kMost) known_.clear();
  const std::string number =
      std::to_string(major_of(device)) + ":" + std::to_string(minor_of(device));
  std::string name = major_of(device) == 0 ? in_mounts(number) : in_sysfs(number);
  if (name.empty()) name = number;
  return known_.emplace(device, std::move(name)).first->second;
}

}  // namespace offcpud
