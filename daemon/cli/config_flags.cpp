// SPDX-License-Identifier: Apache-2.0
#include "cli/config_flags.h"

#include <CLI/CLI.hpp>

#include "base/printable.h"
#include "base/version.h"

namespace offcpud {
namespace {

std::string file_help() {
  return std::string("Configuration file (default ") + kDefaultConfigFile +
         ");\nthe files conf.d/*.yaml beside it are read as well";
}

std::string name_of_a_file(const std::string& text) {
  return text.empty() ? "needs the name of a file" : std::string();
}

}  // namespace

Error usage_error(std::string_view program, std::string_view what) {
  return Error(printable(what) + "; see " + std::string(program) + " --help", ErrorKind::Usage);
}

// CLI11 would name the last one first.
Error unexpected_arguments(std::string_view program, const CLI::App& app, std::string_view hint) {
  std::string text;
  for (const std::string& argument : app.remaining(true)) text += " " + argument;
  return usage_error(program, "not expected:" + text + std::string(hint));
}

std::string version_line(std::string_view program) {
  return std::string(program) + " " + kVersion + " (" + kRevision + ")\n";
}

ConfigFlags::ConfigFlags(CLI::App& app) {
  file_flag_ =
      app.add_option("--config", file_, file_help())->type_name("FILE")->check(name_of_a_file);
  // One value each: by default CLI11 would also take all following words as values.
  app.add_option("--set", settings_, "Set one option, as in the file; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
}

void ConfigFlags::add_overrides(CLI::App& app) {
  listen_flag_ = app.add_option("--listen", listen_,
                                "Address of the HTTP server: HOST:PORT, [IPV6]:PORT or unix:/PATH")
                     ->type_name("ADDR");
  state_dir_flag_ =
      app.add_option("--state-dir", state_dir_, "Directory for data that outlives a restart")
          ->type_name("DIR");
}

ConfigSources ConfigFlags::sources() const {
  ConfigSources sources;
  sources.settings = settings_;
  if (*file_flag_) {
    sources.file = file_;
    sources.file_required = sources.file.lexically_normal() != kDefaultConfigFile;
  }
  if (listen_flag_ != nullptr && *listen_flag_) sources.listen = listen_;
  if (state_dir_flag_ != nullptr && *state_dir_flag_) sources.state_dir = state_dir_;
  return sources;
}

}  // namespace offcpud
