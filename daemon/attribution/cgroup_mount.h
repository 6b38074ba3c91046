// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace offcpud {

// Mount point of the cgroup v2 hierarchy, from the text of /proc/self/mountinfo (proc(5)): the
// shortest that shows the whole hierarchy or, if there is none (a bind mount into a container), the
// shortest that shows a part. nullopt: no cgroup2 file system is mounted.
std::optional<std::filesystem::path> cgroup2_mount(std::string_view mountinfo);

}  // namespace offcpud
