// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace offcpud {

inline constexpr std::size_t kMaxConfigFileBytes = 256UL * 1024;
inline constexpr std::size_t kMaxDropIns = 100;

inline constexpr std::string_view kRemoveOrRestore =
    "remove it to use the defaults, or restore the shipped one";

inline constexpr std::string_view kRestoreWebConfig =
    "restore it, or remove web.config_file from the configuration to do without TLS and passwords";

// The text of a configuration file: UTF-8, not empty, within the size limit. nullopt: there is no
// such file. `if_empty`: what the error about an empty file tells the user to do.
Result<std::optional<std::string>> read_config_file(const std::filesystem::path& path,
                                                    std::string_view if_empty = kRemoveOrRestore);

// The *.yaml files of a directory in lexical order, without hidden ones. Empty if there is no such
// directory. A *.yml file is an error: whoever wrote it believes that it is read.
Result<std::vector<std::filesystem::path>> list_drop_ins(const std::filesystem::path& directory);

// The configuration file and its drop-ins that exist, in the order in which they are read.
std::vector<std::string> files_in_force(const std::filesystem::path& file);

// "read: /etc/offcpud/offcpud.yaml, /etc/offcpud/conf.d/a.yaml", or that there is none.
std::string files_text(const std::filesystem::path& file);

}  // namespace offcpud
