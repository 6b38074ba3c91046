// SPDX-License-Identifier: Apache-2.0
#include "jit/hotspot_layout.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elf/mapped_tables.h"

namespace offcpud {
namespace {

constexpr std::size_t kMostSymbols = 8'192, kMostNames = std::size_t{1} << 20;
constexpr std::size_t kMostEntries = 4'096;  // of a table; OpenJDK 17 has 800
constexpr std::size_t kMostStride = 256;
constexpr std::size_t kLongestName = 64;
constexpr std::uint64_t kMostOffset = 1 << 16;

// The exported variables of a library that is mapped, by name: gHotSpotVM*.
class ExportedVariables {
 public:
  ExportedVariables(const MemoryWords& memory, std::uint64_t base) : memory_(memory) {
    const auto tables = MappedTables::read(
        [&](std::uint64_t address, std::size_t size) { return memory.range(address, size); }, base);
    // Linkers put the names behind the symbols; nothing else tells how many symbols there are.
    if (tables && tables->symbols != 0 && tables->names > tables->symbols) read_symbols(*tables);
  }

  // What the variable holds.
  [[nodiscard]] std::uint64_t value(const std::string& name) const {
    const auto found = addresses_.find("gHotSpotVM" + name);
    if (found == addresses_.end()) return 0;
    return memory_.read<std::uint64_t>(found->second).value_or(0);
  }

 private:
  void read_symbols(const MappedTables& tables) {
    const auto names =
        memory_.range(tables.names, std::min<std::uint64_t>(tables.names_size, kMostNames));
    const std::string_view texts(reinterpret_cast<const char*>(names.data()), names.size());
    const std::uint64_t count = (tables.names - tables.symbols) / sizeof(Elf64_Sym);
    const auto symbols = memory_.range(
        tables.symbols, std::min<std::uint64_t>(count, kMostSymbols) * sizeof(Elf64_Sym));
    for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym)) {
      const auto symbol = value_at<Elf64_Sym>(symbols, at);
      if (symbol.st_name >= texts.size() || symbol.st_value == 0) continue;
      const std::string_view from = texts.substr(symbol.st_name, kLongestName);
      const std::string_view name = from.substr(0, from.find('\0'));
      if (name.starts_with("gHotSpotVM")) {
        addresses_.emplace(std::string(name), tables.bias + symbol.st_value);
      }
    }
  }

  const MemoryWords& memory_;
  std::map<std::string, std::uint64_t> addresses_;
};

// A table of the library: entries of equal size, until one without a type's name.
class ExportedTable {
 public:
  // `text_offset`: in an entry, of the pointer to the type's name.
  ExportedTable(const MemoryWords& memory, std::uint64_t address, std::uint64_t stride,
                std::uint64_t text_offset)
      : memory_(memory), stride_(std::clamp<std::uint64_t>(stride, 8, kMostStride)) {
    if (address == 0 || stride != stride_) return;
    bytes_ = memory.range(address, kMostEntries * stride_);
    while ((count_ + 1) * stride_ <= bytes_.size() && word(count_, text_offset) != 0) ++count_;
  }

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::uint64_t word(std::size_t entry, std::uint64_t offset) const {
    return offset < stride_ ? value_at<std::uint64_t>(bytes_, entry * stride_ + offset) : 0;
  }
  // The texts to which the entries point there.
  [[nodiscard]] std::vector<std::string> texts(std::uint64_t offset) const {
    std::vector<std::uint64_t> addresses;
    for (std::size_t i = 0; i < count_; ++i) addresses.push_back(word(i, offset));
    const MemoryParts parts = memory_.parts(addresses, kLongestName);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count_; ++i) texts.emplace_back(parts.text(i));
    return texts;
  }

 private:
  const MemoryWords& memory_;
  std::uint64_t stride_;
  std::vector<std::byte> bytes_;
  std::size_t count_ = 0;
};

struct Field {
  std::uint64_t offset = 0, address = 0;
};
using Fields = std::map<std::pair<std::string, std::string>, Field>;

Fields read_fields(const MemoryWords& memory, const ExportedVariables& exported) {
  const std::uint64_t type = exported.value("StructEntryTypeNameOffset");
  const ExportedTable table(memory, exported.value("Structs"),
                            exported.value("StructEntryArrayStride"), type);
  const auto types = table.texts(type);
  const auto names = table.texts(exported.value("StructEntryFieldNameOffset"));
  const std::uint64_t offset = exported.value("StructEntryOffsetOffset");
  const std::uint64_t address = exported.value("StructEntryAddressOffset");
  Fields fields;
  for (std::size_t i = 0; i < table.size(); ++i) {
    fields[{types[i], names[i]}] = {.offset = table.word(i, offset),
                                    .address = table.word(i, address)};
  }
  return fields;
}

std::map<std::string, std::uint64_t> read_sizes(const MemoryWords& memory,
                                                const ExportedVariables& exported) {
  const std::uint64_t type = exported.value("TypeEntryTypeNameOffset");
  const ExportedTable table(memory, exported.value("Types"), exported.value("TypeEntryArrayStride"),
                            type);
  const auto names = table.texts(type);
  std::map<std::string, std::uint64_t> sizes;
  for (std::size_t i = 0; i < table.size(); ++i) {
    sizes[names[i]] = table.word(i, exported.value("TypeEntrySizeOffset"));
  }
  return sizes;
}

struct Wanted {
  std::uint32_t HotspotLayout::*to;
  const char *type, *field;
};
constexpr std::array kWanted{
    Wanted{&HotspotLayout::array_length, "GrowableArrayBase", "_len"},
    Wanted{&HotspotLayout::array_data, "GrowableArray<int>", "_data"},
    Wanted{&HotspotLayout::heap_memory, "CodeHeap", "_memory"},
    Wanted{&HotspotLayout::heap_segments, "CodeHeap", "_segmap"},
    Wanted{&HotspotLayout::heap_segment_shift, "CodeHeap", "_log2_segment_size"},
    Wanted{&HotspotLayout::space_low, "VirtualSpace", "_low"},
    Wanted{&HotspotLayout::space_high, "VirtualSpace", "_high"},
    Wanted{&HotspotLayout::blob_name, "CodeBlob", "_name"},
    Wanted{&HotspotLayout::blob_frame_size, "CodeBlob", "_frame_size"},
    Wanted{&HotspotLayout::blob_code_begin, "CodeBlob", "_code_begin"},
    Wanted{&HotspotLayout::blob_code_end, "CodeBlob", "_code_end"},
    Wanted{&HotspotLayout::method_const, "Method", "_constMethod"},
    Wanted{&HotspotLayout::const_constants, "ConstMethod", "_constants"},
    Wanted{&HotspotLayout::const_name_index, "ConstMethod", "_name_index"},
    Wanted{&HotspotLayout::pool_holder, "ConstantPool", "_pool_holder"},
    Wanted{&HotspotLayout::klass_name, "Klass", "_name"},
    Wanted{&HotspotLayout::symbol_length, "Symbol", "_length"},
};

bool take(const Fields& fields, const char* type, const char* field, std::uint32_t& to) {
  const auto found = fields.find({type, field});
  if (found == fields.end() || found->second.offset > kMostOffset) return false;
  to = static_cast<std::uint32_t>(found->second.offset);
  return true;
}

}  // namespace

std::optional<HotspotLayout> read_hotspot_layout(const MemoryWords& memory, std::uint64_t base) {
  const ExportedVariables exported(memory, base);
  const Fields fields = read_fields(memory, exported);
  HotspotLayout layout;
  for (const Wanted& wanted : kWanted) {
    if (!take(fields, wanted.type, wanted.field, layout.*wanted.to)) return std::nullopt;
  }
  // These have had several names.
  if (!take(fields, "CompiledMethod", "_method", layout.blob_method) &&
      !take(fields, "nmethod", "_method", layout.blob_method)) {
    return std::nullopt;
  }
  if (!take(fields, "Symbol", "_body", layout.symbol_body) &&
      !take(fields, "Symbol", "_body[0]", layout.symbol_body)) {
    return std::nullopt;
  }
  const auto heaps = fields.find({"CodeCache", "_heaps"});
  if (heaps == fields.end() || heaps->second.address == 0) return std::nullopt;
  layout.code_heaps = heaps->second.address;
  auto sizes = read_sizes(memory, exported);
  if (!sizes.contains("HeapBlock") || !sizes.contains("ConstantPool")) return std::nullopt;
  layout.block_header_size = static_cast<std::uint32_t>(std::min(sizes["HeapBlock"], kMostOffset));
  layout.pool_size = static_cast<std::uint32_t>(std::min(sizes["ConstantPool"], kMostOffset));
  return layout;
}

}  // namespace offcpud
