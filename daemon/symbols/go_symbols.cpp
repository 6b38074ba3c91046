// SPDX-License-Identifier: Apache-2.0
#include "symbols/go_symbols.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "elf/go_function_table.h"

namespace offcpud {
namespace {

// The part of the section that contains all used names; the linker puts them side by side.
std::string_view names_of(const GoFunctionTable& table) {
  const char* begin = nullptr;
  const char* end = nullptr;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto function = table.function(i);
    if (!function || function->name.empty()) continue;
    const char* const name = function->name.data();
    begin = begin == nullptr ? name : std::min(begin, name);
    end = std::max(end, name + function->name.size());
  }
  return {begin, static_cast<std::size_t>(end - begin)};
}

bool add_all(const GoFunctionTable& table, std::size_t table_bytes, FunctionList& list) {
  if (table.size() > list.limits().ranges) return false;
  const std::string_view names = names_of(table);
  if (names.empty()) return true;
  if (table_bytes + list.name_bytes() + names.size() > list.limits().go_bytes) return false;
  const std::size_t first = list.name_bytes();
  char* const place = list.add_names(names.size());
  if (place == nullptr) return false;
  std::ranges::copy(names, place);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto function = table.function(i);
    if (!function || function->name.empty()) continue;
    const auto name = first + static_cast<std::size_t>(function->name.data() - names.data());
    if (!list.add(function->begin, function->end - function->begin, name, false)) return false;
  }
  return true;
}

}  // namespace

bool add_go_functions(const ElfFile& file, FunctionList& list) {
  const auto section = read_go_section(file);
  if (!section) return section.error().kind() != ErrorKind::Unsupported;
  const auto table = GoFunctionTable::open(section->bytes, section->program);
  if (!table) return true;
  const auto mark = list.mark();
  if (add_all(*table, section->bytes.size(), list)) return true;
  list.forget_since(mark);
  return false;
}

}  // namespace offcpud
