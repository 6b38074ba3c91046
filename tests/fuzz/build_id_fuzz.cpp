// SPDX-License-Identifier: Apache-2.0
// Build-ids of notes and of files.
#include "elf/build_id.h"
#include "elf/elf_file.h"
#include "fuzz.h"
#include "objects.h"
#include "text.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  const BuildId id = find_build_id(bytes_of(input), BuildId::kKernelMaxSize);
  require(id.size <= BuildId::kKernelMaxSize, "a build-id has 20 bytes at most");
  require(id.hex().size() == 2U * id.size, "two digits a byte");
  // Symbols are read with longer ones, too, and those of sections.
  const std::string image = elf_image({{".note.gnu.build-id", std::string(input)}});
  const ByteSource source(image);
  const auto object = ElfFile::read(source);
  require(static_cast<bool>(object), "the object is read");
  const BuildId other = object->build_id();
  if (other.known() && other.size <= BuildId::kKernelMaxSize) {
    require(other == id, "both ways lead to the same build-id");
  }

  static InputFile file;
  require(read_build_id(file.with(input)).size <= BuildId::kKernelMaxSize, "so has that of a file");
}

std::vector<std::string> seeds() {
  std::vector<std::string> all = small_objects(15'000, 8);
  for (const std::size_t size : {1, 8, 16, 20, 21}) {
    all.push_back(build_id_note(std::string(size, '\xab')));
    all.push_back(elf_image({{".note.gnu.build-id", all.back()}}));
  }
  return all;
}

}  // namespace offcpud::fuzz
