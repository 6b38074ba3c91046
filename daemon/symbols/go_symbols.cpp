// SPDX-License-Identifier: Apache-2.0
#include "symbols/go_symbols.h"

#include "golang/function_table.h"

namespace offcpud {

void add_go_functions(const ElfFile& file, FunctionList& list) {
  for (const std::string_view name : kGoTableSections) {
    const ElfSection* section = file.section(name);
    if (section == nullptr) continue;
    const auto bytes = file.source().read(section->offset, section->size, kMaxGoTable);
    if (!bytes) return;
    const ElfSection* code = file.section(".text");
    const auto table = GoFunctionTable::open(
        Bytes(reinterpret_cast<const std::uint8_t*>(bytes->data()), bytes->size()),
        {.text = code == nullptr ? 0 : code->address, .entry = file.entry()});
    for (std::size_t i = 0; table && i < table->size(); ++i) {
      const auto function = table->function(i);
      if (!function || function->name.empty()) continue;
      list.add(function->begin, function->end - function->begin, function->name, 0);
    }
    return;
  }
}

}  // namespace offcpud
