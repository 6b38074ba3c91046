// SPDX-License-Identifier: Apache-2.0
// Writes the manual pages and completions while offcpud is built.
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/exit_code.h"
#include "base/file_io.h"
#include "base/version.h"
#include "manual/bash_completion.h"
#include "manual/manual_parts.h"

namespace offcpud {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestTemplate = 1 << 20;

Status write(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::trunc);
  file << text;
  file.close();
  if (!file) return Error("'" + path.string() + "' cannot be written");
  return {};
}

Status write_manual(const fs::path& templates, const fs::path& output) {
  const ManualParts parts = manual_parts(kVersion);
  for (const char* const page :
       {"offcpud.8", "offcpuctl.1", "offcpud.yaml.5", "offcpud-metrics.7"}) {
    const fs::path path = templates / (std::string(page) + ".in");
    TRY(const std::string text, read_file(path, kLongestTemplate));
    auto filled = fill_manual_template(text, parts);
    if (!filled) return std::move(filled).error().with(path.string());
    TRY_VOID(write(output / page, *filled));
  }
  for (const CommandDoc& program : {daemon_command_doc(), ctl_command_doc()}) {
    TRY_VOID(write(output / (program.name + ".bash"), bash_completion(program)));
  }
  return {};
}

}  // namespace
}  // namespace offcpud

int main(int argc, char** argv) {
  using namespace offcpud;
  if (argc != 3) {
    std::fputs("usage: offcpud_manual TEMPLATE_DIR OUTPUT_DIR\n", stderr);
    return static_cast<int>(ExitCode::Usage);
  }
  try {
    const Status written = write_manual(argv[1], argv[2]);
    if (written) return 0;
    std::fprintf(stderr, "offcpud_manual: %s\n", written.error().message().c_str());
  } catch (const std::exception& exception) {  // of the standard library
    std::fprintf(stderr, "offcpud_manual: %s\n", exception.what());
  }
  return static_cast<int>(ExitCode::Internal);
}
