// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>

#include "symbols/elf_symbols.h"
#include "symbols/symbol_cache.h"

namespace offcpud {

// The user whose program it is, and another one.
inline constexpr std::uint32_t kUser = 1000, kStranger = 65534;

// Programs made from symbols_fixture.cpp by the build.
inline std::filesystem::path symbol_fixture(const std::string& name) {
  return std::filesystem::path(OFFCPUD_SYMBOL_FIXTURES) / name;
}

inline std::string file_content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline ObjectFile object_file(const std::filesystem::path& path) {
  return {UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path.native(), {}};
}

// A line of /proc/PID/maps, if it is that of code.
struct CodeMapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;
};

inline std::optional<CodeMapping> code_mapping(const std::string& line) {
  std::istringstream fields(line);
  CodeMapping mapping;
  char dash = 0;
  std::string access;
  fields >> std::hex >> mapping.start >> dash >> mapping.end >> access >> mapping.offset;
  if (!fields || access != "r-xp") return std::nullopt;
  return mapping;
}

// The ELF address of a function of the fixture by its mangled name, which is also its offset in the
// file; 0 if it has none such.
inline std::uint64_t fixture_address(const std::string& symbol) {
  const UniqueFd fd(::open(symbol_fixture("symbols_plain").c_str(), O_RDONLY | O_CLOEXEC));
  const auto symbols = ElfSymbols::read(fd.get());
  for (std::uint64_t address = 0; symbols && address < 0x10000; ++address) {
    const auto found = symbols->functions().find(address);
    if (found && found->name == symbol) return address;
  }
  return 0;
}

}  // namespace offcpud
