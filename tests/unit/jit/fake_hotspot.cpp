// SPDX-License-Identifier: Apache-2.0
#include "unit/jit/fake_hotspot.h"

#include <elf.h>

#include <algorithm>
#include <stdexcept>

namespace offcpud::testing_jit {
namespace {

struct FieldAt {
  const char *type, *field;
  std::uint64_t offset;
};
// No version has these offsets: they have to be read.
constexpr FieldAt kFields[] = {{"GrowableArrayBase", "_len", 4},
                               {"GrowableArray<int>", "_data", 16},
                               {"CodeHeap", "_memory", 24},
                               {"CodeHeap", "_segmap", 72},
                               {"CodeHeap", "_log2_segment_size", 8},
                               {"VirtualSpace", "_low", 8},
                               {"VirtualSpace", "_high", 24},
                               {"CodeBlob", "_name", 8},
                               {"CodeBlob", "_frame_size", 20},
                               {"CodeBlob", "_code_begin", 24},
                               {"CodeBlob", "_code_end", 32},
                               {"CompiledMethod", "_method", 48},
                               {"Method", "_constMethod", 16},
                               {"ConstMethod", "_constants", 8},
                               {"ConstMethod", "_name_index", 26},
                               {"ConstantPool", "_pool_holder", 16},
                               {"Klass", "_name", 40},
                               {"Symbol", "_length", 2},
                               {"Symbol", "_body", 6},
                               {"Thread", "_unrelated", 8}};
constexpr std::uint64_t kHeader = 32, kPool = 56;  // sizes of HeapBlock and ConstantPool
constexpr std::uint64_t kSegment = 128;
constexpr std::byte kFree{255};

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

Elf64_Ehdr library_header() {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_phoff = sizeof(header);
  header.e_phnum = 2;
  header.e_phentsize = sizeof(Elf64_Phdr);
  return header;
}

}  // namespace

void FakeMemory::read(std::span<MemoryPiece> pieces) {
  for (MemoryPiece& piece : pieces) {
    ++reads;
    piece.got = 0;
    const auto after = parts_.upper_bound(piece.address);
    if (after == parts_.begin()) continue;
    const auto& [begin, bytes] = *std::prev(after);
    const std::uint64_t from = piece.address - begin;
    if (from >= bytes.size()) continue;
    piece.got = std::min<std::size_t>(piece.to.size(), bytes.size() - from);
    std::memcpy(piece.to.data(), bytes.data() + from, piece.got);
  }
}

std::byte* FakeMemory::at(std::uint64_t address, std::size_t size) {
  const auto after = parts_.upper_bound(address);
  if (after == parts_.begin()) throw std::logic_error("nothing is there");
  auto& [begin, bytes] = *std::prev(after);
  if (address - begin + size > bytes.size()) throw std::logic_error("it ends before");
  return bytes.data() + (address - begin);
}

std::uint64_t FakeMemory::put(std::span<const std::byte> bytes, std::uint64_t at) {
  if (at == 0) {
    at = next_;
    next_ += (bytes.size() + 0x1fff) & ~std::uint64_t{0xfff};
  }
  parts_[at].assign(bytes.begin(), bytes.end());
  return at;
}

std::uint64_t FakeMemory::put_text(const std::string& text) {
  std::string padded = text;
  padded.resize(std::max<std::size_t>(text.size() + 1, 64));
  return put(std::as_bytes(std::span(padded)));
}

std::uint64_t FakeMemory::put_words(const std::vector<std::uint64_t>& words) {
  return put(std::as_bytes(std::span(words)));
}

FakeHotspot::FakeHotspot(std::uint64_t linked_at) : linked_at_(linked_at) {
  const std::uint64_t structs = put_fields(put_heaps());
  const std::uint64_t types =
      put_words({put_text("HeapBlock"), kHeader, put_text("ConstantPool"), kPool, 0, 0});
  put_library({{"gHotSpotVMStructs", structs},
               {"gHotSpotVMStructEntryArrayStride", 32},
               {"gHotSpotVMStructEntryFieldNameOffset", 0},
               {"gHotSpotVMStructEntryTypeNameOffset", 8},
               {"gHotSpotVMStructEntryOffsetOffset", 16},
               {"gHotSpotVMStructEntryAddressOffset", 24},
               {"gHotSpotVMTypes", types},
               {"gHotSpotVMTypeEntryArrayStride", 16},
               {"gHotSpotVMTypeEntryTypeNameOffset", 0},
               {"gHotSpotVMTypeEntrySizeOffset", 8}});
}

// Returns where the variable CodeCache::_heaps is.
std::uint64_t FakeHotspot::put_heaps() {
  put(std::vector<std::byte>(kHeapSize), kHeap);
  segments_ = put(std::vector<std::byte>(kHeapSize / kSegment, kFree));
  const std::uint64_t heap = put_words(std::vector<std::uint64_t>(32));
  set<std::uint64_t>(heap + 24 + 8, kHeap);
  set<std::uint64_t>(heap + 24 + 24, kHeap + kHeapSize);
  set<std::uint64_t>(heap + 72 + 8, segments_);
  set<std::uint32_t>(heap + 8, 7);
  const std::uint64_t array = put_words({std::uint64_t{1} << 32, 0, put_words({heap})});
  return put_words({array});
}

// Returns where the table of fields is.
std::uint64_t FakeHotspot::put_fields(std::uint64_t heaps) {
  std::vector<std::uint64_t> table;
  const auto add_entry = [&](const std::string& type, const std::string& field,
                             std::uint64_t offset, std::uint64_t address) {
    entries_[{type, field}] = table.size() * 8;
    table.insert(table.end(), {put_text(field), put_text(type), offset, address});
  };
  for (const FieldAt& each : kFields) add_entry(each.type, each.field, each.offset, 0);
  add_entry("CodeCache", "_heaps", 0, heaps);
  table.insert(table.end(), 4, 0);
  const std::uint64_t structs = put_words(table);
  for (auto& [key, at] : entries_) at += structs;
  return structs;
}

// Header, segments, the dynamic section, variables, symbols, names.
void FakeHotspot::put_library(const std::map<std::string, std::uint64_t>& variables) {
  constexpr std::uint64_t kDynamic = 0x100, kVariables = 0x200, kSymbols = 0x400;
  const std::uint64_t names_at = kSymbols + (variables.size() + 1) * sizeof(Elf64_Sym);
  std::string names(1, '\0');
  std::vector<std::byte> library(0x1000);
  const auto write = [&library](std::uint64_t at, std::span<const std::byte> bytes) {
    std::ranges::copy(bytes, library.begin() + static_cast<std::ptrdiff_t>(at));
  };
  std::uint64_t number = 0;
  for (const auto& [name, value] : variables) {
    const std::uint64_t at = kVariables + 8 * number;
    write(at, bytes_of(value));
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(names.size());
    symbol.st_value = linked_at_ + at;
    write(kSymbols + ++number * sizeof(symbol), bytes_of(symbol));
    names.append(name).push_back('\0');
  }
  write(names_at, std::as_bytes(std::span(names)));
  write(0, bytes_of(library_header()));
  const Elf64_Phdr segments[] = {
      {.p_type = PT_LOAD, .p_vaddr = linked_at_, .p_memsz = library.size()},
      {.p_type = PT_DYNAMIC, .p_vaddr = linked_at_ + kDynamic, .p_memsz = 3 * sizeof(Elf64_Dyn)}};
  write(sizeof(Elf64_Ehdr), std::as_bytes(std::span(segments)));
  const Elf64_Dyn dynamic[] = {{DT_SYMTAB, {kBase + kSymbols}},       // as glibc relocates it
                               {DT_STRTAB, {linked_at_ + names_at}},  // as musl leaves it
                               {DT_STRSZ, {names.size()}}};
  write(kDynamic, std::as_bytes(std::span(dynamic)));
  put(library, kBase);
}

void FakeHotspot::remove_field(const std::string& type, const std::string& field) {
  set<std::uint64_t>(entries_.at({type, field}), put_text("_another"));
}

std::uint64_t FakeHotspot::put_symbol(const std::string& text) {
  std::vector<std::byte> bytes(256);
  const auto length = static_cast<std::uint16_t>(text.size());
  std::memcpy(bytes.data() + 2, &length, sizeof(length));
  std::memcpy(bytes.data() + 6, text.data(), text.size());
  return put(bytes);
}

std::uint64_t FakeHotspot::add(const Blob& blob) {
  const std::uint64_t segments = blob.size / kSegment;
  for (std::uint64_t i = 0; i < segments; ++i) {
    set(segments_ + blob.offset / kSegment + i, static_cast<std::uint8_t>(i));
  }
  constexpr std::uint16_t kIndex = 3;
  const std::uint64_t klass = put_words(std::vector<std::uint64_t>(8));
  set(klass + 40, put_symbol(blob.class_name));
  const std::uint64_t pool = put_words(std::vector<std::uint64_t>(16));
  set(pool + 16, klass);
  set(pool + kPool + 8 * kIndex, put_symbol(blob.method) | 1);
  const std::uint64_t constants = put_words(std::vector<std::uint64_t>(8));
  set(constants + 8, pool);
  set(constants + 26, kIndex);
  const std::uint64_t method = put_words(std::vector<std::uint64_t>(8));
  set(method + 16, constants);

  const std::uint64_t at = kHeap + blob.offset + kHeader;
  const std::uint64_t code = at + 64;
  set(at + 8, put_text(blob.kind));
  set(at + 20, blob.frame_words);
  set(at + 24, code);
  set(at + 32, kHeap + blob.offset + blob.size);
  set(at + 48, method);
  return code;
}

}  // namespace offcpud::testing_jit
