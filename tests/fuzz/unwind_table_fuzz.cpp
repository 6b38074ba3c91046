// SPDX-License-Identifier: Apache-2.0
// Whole ELF files, as unwind tables are made of them.
#include "elf/elf_object.h"
#include "objects.h"
#include "unwind_properties.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  static InputFile in;
  const auto object = read_elf_object(in.with(input));
  if (!object) return;
  for (const ExecutableSegment& segment : object->segments) {
    require(segment.size <= UINT64_MAX - segment.address, "segments do not wrap around");
  }
  require(object->eh_frame.size() <= input.size(), "no more is read than there is");
  require(object->go_table.size() <= input.size(), "nor of Go's table");
  if (const auto table = compile_unwind_table(*object)) require_table(*table);
}

std::vector<std::string> seeds() {
  std::vector<std::string> all = small_objects(40'000, 40);
  all.push_back(vdso_image());
  return all;
}

}  // namespace offcpud::fuzz
