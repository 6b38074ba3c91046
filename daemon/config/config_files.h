// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace offcpud {

inline constexpr std::size_t kMaxConfigFileBytes = 256UL * 1024;
inline constexpr std::size_t kMaxDropIns = 100;

// The text of a configuration file: UTF-8, not empty, within the size limit. Nothing if there is no
// such file.
Result<std::optional<std::string>> read_config_file(const std::filesystem::path& path);

// The *.yaml files of a conf.d directory in lexical order, hidden ones left out. None if there is
// no such directory.
Result<std::vector<std::filesystem::path>> list_drop_ins(const std::filesystem::path& directory);

}  // namespace offcpud
