// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/unique_handle.h"

namespace offcpud::fuzz {

// The smallest programs and libraries of this host, each up to `most_bytes`.
std::vector<std::string> small_objects(std::size_t most_bytes, std::size_t most);

// The kernel's vDSO as this process has it; "" without one.
std::string vdso_image();

// An ELF file for x86-64 of these sections (name, content), with text from 0 to 16 MiB.
using ElfSections = std::vector<std::pair<std::string, std::string>>;
std::string elf_image(const ElfSections& sections);

// A note with this build-id.
std::string build_id_note(std::string_view id);

// A file in memory that holds the input of the moment.
class InputFile {
 public:
  InputFile();
  // The descriptor, open on exactly `content`; the same one each time.
  int with(std::string_view content);

 private:
  UniqueFd fd_;
};

}  // namespace offcpud::fuzz
