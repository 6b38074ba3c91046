// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "attribution/cgroup_mount.h"
#include "base/exit_code.h"
#include "base/file_io.h"
#include "cli/cli.h"
#include "config/config_files.h"
#include "config/config_loader.h"
#include "daemon.h"
#include "kernel/feature_probe.h"
#include "push/push_target.h"
#include "reader/reader_process.h"
#include "reader/reader_spawner.h"
#include "runtime/heap.h"
#include "runtime/logging.h"
#include "runtime/privileges.h"
#include "web_access.h"

namespace offcpud {
namespace {

int fail(const Error& error) {
  log_error(error.message());
  return static_cast<int>(exit_code_for(error.kind()));
}

int print(const std::string& text) {
  return std::fputs(text.c_str(), stdout) < 0 ? static_cast<int>(ExitCode::Internal) : 0;
}

int print_features() {
  const FeatureReport report = probe_features();
  std::string text;
  for (const Feature& feature : report.features) {
    text += feature.name + (feature.enabled ? "  yes  " : "  NO   ") + feature.detail;
    text += feature.enabled ? "\n" : "\n    " + feature.remedy + "\n";
  }
  print(text);
  const Status usable = report.require();
  return usable ? 0 : fail(usable.error());
}

// Keeps the capabilities that readers need to inspect other processes and to open the files that
// these map. A failure is not fatal: reads without the capabilities are denied and counted.
void keep_what_reads_processes() {
  constexpr Capability kKept[] = {Capability::SysPtrace, Capability::DacReadSearch,
                                  Capability::CheckpointRestore};
  if (const auto dropped = drop_capabilities(kKept); !dropped)
    log_warning(dropped.error().message());
}

// The file that lists the processes of this process's cgroup (v2); empty: there is none.
std::filesystem::path own_cgroup_processes() {
  constexpr std::size_t kMost = std::size_t{4} << 20;
  const auto membership = read_file("/proc/self/cgroup", kMost);
  const auto mounts = read_file("/proc/self/mountinfo", kMost);
  if (!membership || !mounts) return {};
  const auto mount = cgroup2_mount(*mounts);
  const std::string lines = "\n" + *membership;
  constexpr std::string_view kUnified = "\n0::";
  const std::size_t begin = lines.find(kUnified);
  if (!mount || begin == std::string::npos) return {};
  const std::string path = lines.substr(begin + kUnified.size());
  return mount->native() + path.substr(0, path.find('\n')) + "/cgroup.procs";
}

int check(const Config& config, const ConfigSources& sources) {
  const Status absent = check_absent_file(config, sources, exposed_address(config));
  if (!absent) return fail(absent.error());
  const auto warnings = WebAccess::check(config.web);
  if (!warnings) return fail(warnings.error());
  for (const std::string& warning : *warnings) log_warning(warning);
  const Status push = check_push_files(config.push);
  if (!push) return fail(push.error());
  return print("the configuration is valid; " + files_text(sources.file) + "\n");
}

int run(int argc, char** argv) {
  const auto options = parse_command_line(argc, argv);
  if (!options) return fail(options.error());
  if (options->action == Action::PrintText) return print(options->text);
  if (options->action == Action::PrintFeatures) return print_features();

  const auto config = load_config(options->sources);
  if (!config) return fail(config.error());
  if (const auto found = find_web_config_file(*config, options->sources); !found) {
    return fail(found.error());
  }
  if (options->action == Action::CheckConfig) return check(*config, options->sources);

  // First, while the process has no threads, sockets or kernel programs.
  std::shared_ptr<ReaderSpawner> spawner;
  if (config->snapshots.enabled) {
    auto started =
        ReaderSpawner::start(answer_requests, keep_what_reads_processes, own_cgroup_processes());
    if (!started) return fail(started.error());
    spawner = *std::move(started);
  }
  keep_heap_small();
  init_logging(parse_log_level(config->log_level).value_or(LogLevel::Info));
  auto daemon = Daemon::start(options->sources, *config, std::move(spawner));
  if (!daemon) return fail(daemon.error());
  const auto code = (*daemon)->run();
  return code ? *code : fail(code.error());
}

}  // namespace
}  // namespace offcpud

int main(int argc, char** argv) {
  try {
    return offcpud::run(argc, argv);
  } catch (
      const std::exception& exception) {  // of the standard library: for instance out of memory
    return offcpud::fail(offcpud::Error(exception.what()));
  }
}
