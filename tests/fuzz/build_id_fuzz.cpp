// SPDX-License-Identifier: Apache-2.0
// Build-ids of notes and of files, as mappings read them.
#include "elf/elf_build_id.h"
#include "elf/elf_file.h"
#include "fuzz.h"
#include "objects.h"
#include "text.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  const BuildId id = find_build_id_note(std::as_bytes(bytes_of(input)));
  require(id.size <= BuildId::kMaxSize, "a build-id has 20 bytes at most");
  require(id.hex().size() == 2U * id.size, "two digits a byte");
  // The reader of symbols is another one, which takes the first one, and longer ones, too.
  const std::string other = find_build_id(input, 4);
  if (!other.empty() && other.size() <= BuildId::kMaxSize) {
    require(to_hex(other) == id.hex(), "both readers find the same build-id");
  }

  static InputFile file;
  require(read_build_id(file.with(input)).size <= BuildId::kMaxSize, "so has that of a file");
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
