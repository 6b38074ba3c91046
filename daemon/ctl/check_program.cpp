// SPDX-License-Identifier: Apache-2.0
#include "ctl/check_program.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "config/config_files.h"
#include "config/config_reference.h"
#include "config/web_config.h"
#include "sites/site_folders.h"

namespace offcpud {
namespace {

// Values of the command line are in no file that a daemon reads.
bool is_of_the_service(const ConfigSources& sources) {
  return sources.file.lexically_normal() == kDefaultConfigFile && sources.settings.empty();
}

// Without systemd there is no unit to reload (sd_booted(3)).
bool has_systemd() {
  std::error_code failed;
  return std::filesystem::is_directory("/run/systemd/system", failed);
}

std::string next_text(const ConfigSources& sources) {
  const char* const reload =
      is_of_the_service(sources) && has_systemd()
          ? "systemctl reload offcpud"
          : "kill -HUP to the offcpud that was started with the same options";
  return std::string("next: ") + reload +
         "; offcpuctl status then names the options that take effect on a restart";
}

Result<StacksOutput> checked(const ConfigSources& sources) {
  TRY(const auto config, load_config(sources));
  TRY_VOID(find_web_config_file(config, sources));
  TRY_VOID(check_absent_file(config, sources, exposed_address(config)));
  const auto folders = site_rule_folders(sources.file);
  TRY(const auto rules, load_site_rules(folders));
  StacksOutput output{.text = "OK; " + files_text(sources.file) + "; " +
                              site_rules_text(*rules, folders) + "\n" + config_text(config),
                      .note = {}};
  if (!config.web.config_file.empty()) {
    TRY(const auto web, load_web_config(config.web.config_file));
    for (const std::string& warning : web.warnings) output.note += warning + "\n";
  }
  output.note += next_text(sources);
  return output;
}

// Whether the error is about the contents of files. No daemon has read the --set of this command,
// and the error about a missing file says itself what to do.
bool is_of_files(const Error& error, const ConfigSources& sources) {
  std::error_code failed;
  const bool is_missing = sources.file_required && !std::filesystem::exists(sources.file, failed);
  return !is_missing && !error.message().starts_with("--set ");
}

}  // namespace

Result<StacksOutput> check_config(const ConfigSources& sources) {
  auto output = checked(sources);
  if (output || output.error().kind() != ErrorKind::Configuration) return output;
  if (!is_of_files(output.error(), sources)) return output;
  return Error(output.error().message() +
                   "; correct it and check again, as further mistakes may follow: until then a "
                   "running offcpud keeps what it has, and none starts",
               ErrorKind::Configuration);
}

}  // namespace offcpud
