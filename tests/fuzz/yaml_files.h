// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "text.h"

namespace offcpud::fuzz {

// The shipped configuration and those of the unit tests.
inline std::vector<std::string> yaml_files() {
  const std::filesystem::path source = OFFCPUD_SOURCE_DIR;
  std::vector<std::filesystem::path> paths = {source / "config/offcpud.yaml",
                                              source / "tests/data/stalls.rules.yaml"};
  for (const auto& entry : std::filesystem::directory_iterator(source / "tests/data/config")) {
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> files;
  for (const auto& path : paths) files.push_back(content_of(path.native()));
  return files;
}

// The shipped rules about wait sites and those of the unit tests.
inline std::vector<std::string> site_rule_files() {
  const std::filesystem::path source = OFFCPUD_SOURCE_DIR;
  std::vector<std::filesystem::path> paths;
  for (const char* folder : {"config/wait-sites", "tests/data/site-rules"}) {
    for (const auto& entry : std::filesystem::directory_iterator(source / folder)) {
      if (entry.path().extension() == ".yaml") paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> files;
  for (const auto& path : paths) files.push_back(content_of(path.native()));
  return files;
}

}  // namespace offcpud::fuzz
