// SPDX-License-Identifier: Apache-2.0
// What reading symbols costs: time and memory per object, and lookups. Prints
// only. Usage: symbols_bench [OBJECT...]; without arguments, large libraries that are installed.
#include <fcntl.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/demangle_cache.h"
#include "symbols/elf_symbols.h"

namespace {

using offcpud::ElfSymbols;
using Milliseconds = std::chrono::duration<double, std::milli>;

double elapsed_ms(std::chrono::steady_clock::time_point start) {
  return Milliseconds(std::chrono::steady_clock::now() - start).count();
}

std::vector<std::string> installed_objects() {
  std::vector<std::string> paths{"/proc/self/exe"};
  std::error_code error;
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename().native();
      for (const std::string_view wanted : {"libc.so.6", "libstdc++.so.6", "libcrypto.so.3",
                                            "libLLVM-14.so.1", "libpython3.11.so.1.0"}) {
        if (name == wanted) paths.push_back(entry.path().native());
      }
    }
  }
  for (const char* program : {"/usr/bin/node", "/usr/bin/python3"}) {
    if (std::filesystem::exists(program, error)) paths.emplace_back(program);
  }
  return paths;
}

void measure_object(const std::string& path, const offcpud::RootDirectory& root) {
  const offcpud::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd || !ElfSymbols::read(fd.get())) return;  // the second reading finds the pages in memory
  for (const bool debug : {false, true}) {
    const auto start = std::chrono::steady_clock::now();
    const auto symbols =
        debug ? ElfSymbols::read(fd.get(), {{&root, path}}) : ElfSymbols::read(fd.get());
    const double ms = elapsed_ms(start);
    if (!symbols) return;
    std::printf("%-50s %-12s %7zu functions %8.2f ms %9.1f KiB\n", path.c_str(),
                debug ? "debug files" : "alone", symbols->functions().size(), ms,
                static_cast<double>(symbols->bytes()) / 1024);
  }
}

void measure_lookups(const std::string& path) {
  const offcpud::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto symbols = ElfSymbols::read(fd.get());
  if (!symbols) return;
  std::mt19937_64 random(1);  // NOLINT(cert-msc51-cpp): the same ones each time
  offcpud::DemangleCache names(4 << 20);
  constexpr int kLookups = 1'000'000;
  for (const bool shown : {false, true}) {
    std::size_t named = 0;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kLookups; ++i) {
      const auto found = symbols->functions().find(random() % (4 << 20));
      if (!found || found->name.empty()) continue;
      named += shown ? names.shown(found->name).size() : 1;
    }
    std::printf("%-50s lookup %s: %.0f ns (%zu)\n", path.c_str(), shown ? "with its name" : "alone",
                elapsed_ms(start) * 1e6 / kLookups, named);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> paths(argv + 1, argv + argc);
  if (paths.empty()) paths = installed_objects();
  const auto root = offcpud::RootDirectory::open("/");
  if (!root) return 1;
  for (const std::string& path : paths) measure_object(path, *root);
  for (const std::string& path : paths) {
    if (path.find("libstdc++") != std::string::npos) measure_lookups(path);
  }
  return 0;
}
