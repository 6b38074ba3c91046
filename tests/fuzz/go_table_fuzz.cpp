// SPDX-License-Identifier: Apache-2.0
// Go's table of functions: names, stack depths and the rules made of them.
#include "elf/go_function_table.h"
#include "text.h"
#include "unit/elf/go_table_bytes.h"
#include "unwind_properties.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  const Bytes bytes = bytes_of(input);
  const GoFunctionTable::Program program{.text = 0x1000, .entry = 0x1000};
  if (const auto table = GoFunctionTable::open(bytes, program)) {
    require(table->size() <= bytes.size() / 8, "no more functions than bytes for them");
    for (std::size_t i = 0; i < table->size(); ++i) {
      const auto function = table->function(i);
      if (!function) continue;
      require(function->begin < function->end, "functions are not empty");
      require(function->name.size() <= bytes.size(), "names are in the table");
      GoStackDepths depths(*table, *function);
      std::size_t ranges = 0;
      for (std::uint64_t at = function->begin; depths.next(); at = depths.end()) {
        require(depths.begin() == at, "ranges follow one another");
        require(++ranges <= bytes.size(), "and take bytes");
      }
    }
  }
  ElfObject object;
  object.segments = {{.file_offset = 0, .address = 0, .size = 1 << 30}};
  object.go_table.assign(bytes.begin(), bytes.end());
  object.go_program = program;
  if (const auto table = compile_unwind_table(object)) require_table(*table);
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const std::uint32_t magic :
       {GoTableBytes::kGo116, GoTableBytes::kGo118, GoTableBytes::kGo120}) {
    for (const std::uint64_t code : {0x1000, 0}) {
      GoTableBytes table;
      table.magic = magic;
      table.code = code;
      table.functions = {{0, "_rt0_amd64_linux", {{0, 16}}},
                         {0x20, "main.main", {{0, 4}, {8, 20}, {24, 8}}},
                         {0x60, "runtime.goexit", {}},
                         {0x80, "runtime.systemstack", {{0, 8}, {-8, 4}}}};
      table.end = 0x100;
      const auto bytes = table.bytes();
      all.emplace_back(bytes.begin(), bytes.end());
    }
  }
  return all;
}

}  // namespace offcpud::fuzz
