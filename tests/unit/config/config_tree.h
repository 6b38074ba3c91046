// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "config/config_loader.h"

namespace offcpud::test {

// A directory of configuration files of one test, removed with it.
class ConfigTree {
 public:
  ConfigTree() {
    std::string pattern = (std::filesystem::temp_directory_path() / "offcpud-config-XXXXXX");
    if (::mkdtemp(pattern.data()) == nullptr) ADD_FAILURE() << "mkdtemp " << pattern;
    root_ = pattern;
    // Other users may look inside: one test reads as nobody.
    std::filesystem::permissions(root_, std::filesystem::perms(0755));
  }
  ConfigTree(const ConfigTree&) = delete;
  ConfigTree& operator=(const ConfigTree&) = delete;
  ~ConfigTree() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  [[nodiscard]] std::filesystem::path path(const std::string& name) const { return root_ / name; }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(path(name).parent_path());
    std::ofstream(path(name), std::ios::binary) << text;
  }

  // What --config offcpud.yaml in this directory means.
  [[nodiscard]] ConfigSources sources() const {
    return {.file = path("offcpud.yaml"),
            .file_required = true,
            .settings = {},
            .listen = {},
            .state_dir = {}};
  }

  // The message with this directory taken out; empty if the configuration is accepted.
  [[nodiscard]] std::string error_of(const ConfigSources& sources) const {
    const auto config = load_config(sources);
    if (config) return {};
    EXPECT_EQ(config.error().kind(), ErrorKind::Configuration) << config.error().message();
    std::string message = config.error().message();
    const std::string prefix = root_.native() + "/";
    for (auto at = message.find(prefix); at != std::string::npos; at = message.find(prefix)) {
      message.erase(at, prefix.size());
    }
    return message;
  }
  [[nodiscard]] std::string error() const { return error_of(sources()); }

 private:
  std::filesystem::path root_;
};

}  // namespace offcpud::test
