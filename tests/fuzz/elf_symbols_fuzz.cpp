// SPDX-License-Identifier: Apache-2.0
// Symbols, unwind ranges and segments of ELF files: in memory, as the vDSO is read, and by
// descriptor.
#include "elf/elf_file.h"
#include "fuzz.h"
#include "objects.h"
#include "symbols/elf_symbols.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  const auto image = ElfSymbols::read_image(input);
  static InputFile in;
  const auto file = ElfSymbols::read(in.with(input));
  require(static_cast<bool>(image) == static_cast<bool>(file), "memory and file read alike");
  if (!image) return require(!image.error().message().empty(), "an error says something");
  require(*image == *file, "memory and file have the same functions");
  require(image->bytes() < (std::size_t{64} << 20), "what is kept is bounded");
  for (std::uint64_t address = 0; address < 0x8000; address += 0x75) {
    const auto found = image->functions().find(address);
    require(!found || found->name.size() <= 4096, "names are bounded");
    if (found && found->name.empty()) require(found->start <= address, "its FDE begins before");
    (void)image->address_of(address);
  }
}

std::vector<std::string> seeds() {
  std::vector<std::string> all = small_objects(40'000, 40);
  all.push_back(vdso_image());
  all.push_back(elf_image({{".note.gnu.build-id", build_id_note("12345678")}}));
  return all;
}

}  // namespace offcpud::fuzz
