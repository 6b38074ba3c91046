// SPDX-License-Identifier: Apache-2.0
#include "peers/device_names.h"

#include <filesystem>
#include <system_error>

#include "base/text.h"

namespace offcpud {

const std::string& DeviceNames::of(std::uint32_t device) {
  if (const auto known = known_.find(device); known != known_.end()) return known->second;
  if (known_.size() >= kMost) known_.clear();
  constexpr std::uint32_t kMinorBits = 20;
  const std::string number = std::to_string(device >> kMinorBits) + ":" +
                             std::to_string(device & ((1U << kMinorBits) - 1));
  std::error_code gone;
  const auto link = std::filesystem::read_symlink(std::filesystem::path(root_) / number, gone);
  std::string name = gone ? std::string() : to_valid_utf8(link.filename().string());
  if (name.empty()) name = number;
  return known_.emplace(device, std::move(name)).first->second;
}

}  // namespace offcpud
