// SPDX-License-Identifier: Apache-2.0
#include "symbols/symbol_table.h"

#include <elf.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace offcpud {
namespace {

constexpr std::uint64_t kMaxStrings = 64 << 20;  // node has 10 MiB, libLLVM with .symtab 30
constexpr std::uint64_t kMaxSymbols = 4 << 20;   // entries of any kind
constexpr std::uint64_t kSymbolsAtOnce = 16 << 10;
constexpr std::size_t kMaxName = 4096;  // longer ones cannot be shown anyway

bool is_function(const ElfSymbol& symbol) {
  return symbol.defined && symbol.name != 0 &&
         (symbol.type == STT_FUNC || symbol.type == STT_GNU_IFUNC);
}

Status read_table(const ElfFile& file, const ElfSection& table, FunctionList& list) {
  if (table.link >= file.sections().size()) return Error("read object: symbols without names");
  const ElfSection& strings = file.sections()[table.link];
  if (strings.type != SHT_STRTAB) return Error("read object: symbols without names");
  TRY(const std::string names, file.source().read(strings.offset, strings.size, kMaxStrings));

  const std::uint64_t entry = file.symbol_size();
  const std::uint64_t count = std::min(table.size / entry, kMaxSymbols);
  for (std::uint64_t first = 0; first < count; first += kSymbolsAtOnce) {
    const std::uint64_t batch = std::min(kSymbolsAtOnce, count - first);
    TRY(const std::string bytes,
        file.source().read(table.offset + first * entry, batch * entry, kSymbolsAtOnce * entry));
    for (std::uint64_t i = 0; i < batch; ++i) {
      const ElfSymbol symbol = file.symbol(std::string_view(bytes).substr(i * entry, entry));
      if (!is_function(symbol) || symbol.name >= names.size()) continue;
      std::string_view name = std::string_view(names).substr(symbol.name, kMaxName);
      name = name.substr(0, name.find('\0'));
      const bool visible = symbol.binding != STB_LOCAL;
      if (!name.empty()) list.add(symbol.address, symbol.size, name, visible ? 1 : 0);
    }
  }
  return {};
}

}  // namespace

Status read_functions(const ElfFile& file, FunctionList& list) {
  for (const std::uint32_t type : {std::uint32_t{SHT_SYMTAB}, std::uint32_t{SHT_DYNSYM}}) {
    const ElfSection* table = file.section(type);
    if (table == nullptr) continue;
    if (auto read = read_table(file, *table, list); read || type == SHT_DYNSYM) return read;
  }
  return {};
}

}  // namespace offcpud
