// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <CLI/CLI.hpp>
#include <exception>
#include <utility>

#include "cli/config_flags.h"

namespace offcpud {
namespace {

constexpr const char* kDescription =
    "Exports off-CPU and run-queue wait histograms of cgroups and processes.";
constexpr const char* kExitCodes =
    "Exit codes: 0 stopped as asked, 64 usage, 69 unsupported kernel,\n"
    "70 internal error or a listen address that is taken, 77 missing permission,\n"
    "78 configuration.";

}  // namespace

Result<CliOptions> parse_command_line(int argc, const char* const* argv) {
  CliOptions options;
  CLI::App app(kDescription, "offcpud");
  try {
    ConfigFlags config(app);
    config.add_overrides(app);
    bool check = false;
    bool features = false;
    bool version = false;
    auto* const modes = app.add_option_group("modes");
    modes->add_flag("--check-config", check, "Check the configuration and exit");
    modes->add_flag("--features", features, "Say what this kernel allows and exit");
    modes->add_flag("--version", version, "Print the version and exit");
    modes->require_option(0, 1);
    app.set_help_flag("-h,--help", "Print this text and exit");
    app.footer(kExitCodes);

    app.parse(argc, argv);
    options.sources = config.sources();
    if (check) options.action = Action::CheckConfig;
    if (features) options.action = Action::PrintFeatures;
    if (version) return CliOptions{Action::PrintText, {}, "offcpud " OFFCPUD_VERSION "\n"};
    return options;
  } catch (const CLI::CallForHelp&) {
    return CliOptions{Action::PrintText, {}, app.help()};
  } catch (const std::exception& error) {
    return usage_error("offcpud", error.what());
  }
}

}  // namespace offcpud
