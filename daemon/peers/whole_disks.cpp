// SPDX-License-Identifier: Apache-2.0
#include "peers/whole_disks.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "base/text.h"

namespace offcpud {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLayers = 8;

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

void add_disks(const fs::path& root, const std::string& device, std::size_t layers,
               std::set<std::string>& disks) {
  std::error_code failed;
  const fs::path link = root / device;
  const fs::path target = fs::read_symlink(link, failed);
  if (failed || disks.size() >= kMostDisks) return;
  if (fs::exists(link / "partition", failed)) {
    // .../block/vda/vda1
    disks.insert(to_valid_utf8(target.parent_path().filename().string()));
    return;
  }
  bool is_layer = false;
  if (layers < kMostLayers) {
    for (fs::directory_iterator slave(link / "slaves", failed), end; !failed && slave != end;
         slave.increment(failed)) {
      is_layer = true;
      add_disks(root, slave->path().filename().string(), layers + 1, disks);
    }
  }
  if (!is_layer) disks.insert(to_valid_utf8(device));
}

}  // namespace

std::string disk_name(std::string_view kernels) {
  constexpr std::string_view kNvme = "nvme";
  std::string name(kernels);
  std::ranges::replace(name, '/', '!');
  if (!name.starts_with(kNvme)) return name;
  // nvme CONTROLLER c PATH n NAMESPACE
  const std::size_t path = name.find('c', kNvme.size());
  const std::size_t space = name.find('n', kNvme.size());
  if (path == std::string::npos || space == std::string::npos || path > space) return name;
  const std::string_view text = name;
  const bool is_path = is_digits(text.substr(kNvme.size(), path - kNvme.size())) &&
                       is_digits(text.substr(path + 1, space - path - 1)) &&
                       is_digits(text.substr(space + 1));
  return is_path ? name.erase(path, space - path) : name;
}

std::vector<std::string> whole_disks(std::string_view device, const std::string& root) {
  // A name of sysfs is one part of a path.
  if (device.empty() || device.starts_with('.') || device.find('/') != std::string_view::npos) {
    return {};
  }
  std::set<std::string> disks;
  add_disks(root, std::string(device), 0, disks);
  return {disks.begin(), disks.end()};
}

}  // namespace offcpud
