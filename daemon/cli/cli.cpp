// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <CLI/CLI.hpp>
#include <exception>
#include <utility>

#include "cli/command_doc.h"
#include "cli/config_flags.h"

namespace offcpud {
namespace {

constexpr const char* kDescription =
    "Exports off-CPU and run-queue wait histograms of cgroups and processes.";
constexpr const char* kDaemonExitCodes =
    "Exit codes: 0 stopped as asked, 64 usage, 69 unsupported kernel,\n"
    "70 internal error or a listen address that is taken, 77 missing permission,\n"
    "78 configuration.";

class DaemonCommandLine {
 public:
  DaemonCommandLine();
  Result<CliOptions> parse(int argc, const char* const* argv);
  [[nodiscard]] const CLI::App& app() const { return app_; }

 private:
  CLI::App app_{kDescription, "offcpud"};
  ConfigFlags config_{app_};
  bool check_ = false;
  bool features_ = false;
  bool version_ = false;
};

DaemonCommandLine::DaemonCommandLine() {
  config_.add_overrides(app_);
  auto* const modes = app_.add_option_group("modes");
  modes->add_flag("--check-config", check_, "Check the configuration and exit");
  modes->add_flag("--features", features_, "Print what this kernel allows and exit");
  modes->add_flag("--version", version_, "Print the version and exit");
  modes->require_option(0, 1);
  app_.set_help_flag("-h,--help", "Print this text and exit");
  app_.footer(kDaemonExitCodes);
}

Result<CliOptions> DaemonCommandLine::parse(int argc, const char* const* argv) {
  try {
    CliOptions options;
    app_.parse(argc, argv);
    options.sources = config_.sources();
    if (check_) options.action = Action::CheckConfig;
    if (features_) options.action = Action::PrintFeatures;
    if (version_) return CliOptions{Action::PrintText, {}, version_line("offcpud")};
    return options;
  } catch (const CLI::CallForHelp&) {
    return CliOptions{Action::PrintText, {}, app_.help()};
  } catch (const CLI::ExtrasError&) {
    return unexpected_arguments("offcpud", app_);
  } catch (const std::exception& error) {
    return usage_error("offcpud", error.what());
  }
}

}  // namespace

Result<CliOptions> parse_command_line(int argc, const char* const* argv) {
  return DaemonCommandLine().parse(argc, argv);
}

CommandDoc daemon_command_doc() {
  return describe(DaemonCommandLine().app());
}

}  // namespace offcpud
