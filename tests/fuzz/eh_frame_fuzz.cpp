// SPDX-License-Identifier: Apache-2.0
// The section .eh_frame by itself.
#include "elf/eh_frame.h"
#include "objects.h"
#include "text.h"
#include "unit/elf/cfi_bytes.h"
#include "unwind_properties.h"

namespace offcpud::fuzz {
namespace {

constexpr std::uint64_t kText = 0x1000, kTextSize = 0x1fff'f000;
constexpr std::uint64_t kSection = 0x1000'0000;

}  // namespace

void test(std::string_view input) {
  const bool exact = input.starts_with('x');
  const Bytes bytes = bytes_of(input.substr(std::min<std::size_t>(1, input.size())));
  ElfObject object;
  object.segments = {{.file_offset = kText, .address = kText, .size = kTextSize}};
  object.eh_frame.assign(bytes.begin(), bytes.end());
  object.eh_frame_address = kSection;
  object.exact_size = exact;

  std::size_t fdes = 0;
  FdeWalk walk(object.section());
  while (const auto fde = walk.next()) {
    ++fdes;
    require(fde->begin < fde->end, "functions are not empty");
    require(fde->cie_offset < bytes.size(), "their CIE is in the section");
    require(fde->instructions.size() <= bytes.size(), "so are their instructions");
  }
  require(fdes + walk.broken() <= bytes.size() / 4 + 1, "records do not overlap");
  if (const auto table = compile_unwind_table(object)) {
    require_table(*table);
    require(table->functions <= fdes, "no function is counted twice");
  }
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  static InputFile in;
  for (const std::string& file : small_objects(64 << 10, 40)) {
    const auto object = read_elf_object(in.with(file));
    if (!object) continue;
    const auto& section = object->eh_frame;
    const std::size_t size = std::min<std::size_t>(section.size(), 2048);
    all.push_back("x" + std::string(section.begin(), section.begin() + static_cast<long>(size)));
  }
  CfiBytes cfi;
  const auto cie = cfi.cie();
  cfi.fde(cie, 0x2000, 0x100, {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x0c, 7, 8});
  cfi.fde(cfi.cie({0x0c, 7, 8, 0x90, 1}, "zRS"), 0x3000, 0x40);
  cfi.fde(cie, 0x4000, 0x10,
          {0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22});
  all.push_back("x" + std::string(cfi.bytes().begin(), cfi.bytes().end()));
  return all;
}

}  // namespace offcpud::fuzz
