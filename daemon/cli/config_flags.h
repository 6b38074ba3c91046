// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/config_loader.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace offcpud {

// An error of ErrorKind::Usage; its message ends with "see PROGRAM --help".
Error usage_error(std::string_view program, std::string_view what);

// The same for arguments that `app` has no place for, in the order in which they were given.
// `hint`: "; and what to do", or nothing.
Error unexpected_arguments(std::string_view program, const CLI::App& app,
                           std::string_view hint = {});

// What --version prints.
std::string version_line(std::string_view program);

// The flags of a command that reads the configuration: the daemon, and offcpuctl check-config. Must
// outlive the parsing. Adding flags may throw what CLI11 throws.
class ConfigFlags {
 public:
  explicit ConfigFlags(CLI::App& app);       // --config, --set
  ConfigFlags(const ConfigFlags&) = delete;  // CLI11 keeps pointers to the members
  ConfigFlags& operator=(const ConfigFlags&) = delete;
  void add_overrides(CLI::App& app);  // --listen, --state-dir

  // The sources that were given; call it after the parsing.
  [[nodiscard]] ConfigSources sources() const;

 private:
  std::string file_;
  std::vector<std::string> settings_;
  std::string listen_;
  std::string state_dir_;
  CLI::Option* file_flag_ = nullptr;  // owned by the App
  CLI::Option* listen_flag_ = nullptr;
  CLI::Option* state_dir_flag_ = nullptr;
};

}  // namespace offcpud
