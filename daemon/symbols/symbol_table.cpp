// SPDX-License-Identifier: Apache-2.0
#include "symbols/symbol_table.h"

#include <elf.h>

#include <algorithm>
#include <span>
#include <utility>

namespace offcpud {
namespace {

constexpr std::uint64_t kMaxSymbols = 4 << 20;  // entries of all kinds
constexpr std::uint64_t kSymbolsAtOnce = 16 << 10;

bool is_function(const ElfSymbol& symbol) {
  return symbol.defined && symbol.name != 0 &&
         (symbol.type == STT_FUNC || symbol.type == STT_GNU_IFUNC);
}

Error too_many_symbols() {
  return Error("read object: more symbols than any program has", ErrorKind::Unsupported);
}

Status read_names(const ElfFile& file, const ElfSection& strings, FunctionList& list) {
  const std::uint64_t there = file.source().size();
  if (strings.offset > there || strings.size > there - strings.offset) {
    return Error("read object: names beyond its end");
  }
  char* const names = list.add_names(strings.size);
  if (names == nullptr) return too_many_symbols();
  return file.source().read_into(strings.offset,
                                 std::as_writable_bytes(std::span(names, strings.size)));
}

Status read_symbols(const ElfFile& file, const ElfSection& table, FunctionList& list) {
  const std::size_t names = list.name_bytes();
  const ElfSection& strings = file.sections()[table.link];
  TRY_VOID(read_names(file, strings, list));
  const std::uint64_t entry = file.symbol_size();
  const std::uint64_t count = table.size / entry;
  if (count > kMaxSymbols) return too_many_symbols();
  for (std::uint64_t first = 0; first < count; first += kSymbolsAtOnce) {
    const std::uint64_t batch = std::min(kSymbolsAtOnce, count - first);
    TRY(const auto bytes,
        file.source().read(table.offset + first * entry, batch * entry, kSymbolsAtOnce * entry));
    for (std::uint64_t i = 0; i < batch; ++i) {
      const ElfSymbol symbol = file.symbol(Bytes(bytes).subspan(i * entry, entry));
      if (!is_function(symbol) || symbol.name >= strings.size) continue;
      const std::size_t name = names + symbol.name;
      if (list.names().is_empty_at(name)) continue;
      const bool visible = symbol.binding != STB_LOCAL;
      if (!list.add(symbol.address, symbol.size, name, visible)) return too_many_symbols();
    }
  }
  return {};
}

// Reads the table whole or not at all: if functions were missing, their addresses would get other
// functions' names.
Status read_table(const ElfFile& file, const ElfSection& table, FunctionList& list) {
  if (table.link >= file.sections().size() || file.sections()[table.link].type != SHT_STRTAB) {
    return Error("read object: symbols without names");
  }
  const auto mark = list.mark();
  auto status = read_symbols(file, table, list);
  if (!status) list.forget_since(mark);
  return status;
}

}  // namespace

Status read_functions(const ElfFile& file, FunctionList& list) {
  Status first;
  for (const std::uint32_t type : {std::uint32_t{SHT_SYMTAB}, std::uint32_t{SHT_DYNSYM}}) {
    const ElfSection* table = file.section(type);
    if (table == nullptr) continue;
    auto read = read_table(file, *table, list);
    if (read || !first) return first;
    first = std::move(read);
  }
  return first;
}

}  // namespace offcpud
