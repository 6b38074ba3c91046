// SPDX-License-Identifier: Apache-2.0
#include "unit/golang/fake_go.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "support/elf_header.h"
#include "unit/elf/go_table_bytes.h"

namespace offcpud::testing_go {
namespace {

constexpr std::uint64_t kVariables = 0x800000;  // as linked
constexpr std::uint64_t kInfo = kVariables, kReasons = kVariables + 0x200,
                        kAll = kVariables + 0x1000, kVariablesEnd = kVariables + 0x2000;
constexpr std::uint64_t kTable = 0x600000;
constexpr std::uint64_t kList = 0xc000000000;  // in the process
constexpr std::size_t kMostGoroutines = 4'096;

void put_word(std::vector<std::byte>& bytes, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(std::byte(value >> (8 * i)));
}

void put_opcode(std::vector<std::byte>& bytes, std::initializer_list<std::uint8_t> opcode) {
  for (const std::uint8_t byte : opcode) bytes.push_back(std::byte{byte});
}

std::uint32_t counter_of(std::uint32_t minor) {
  return minor <= 16 ? 0 : minor <= 20 ? 189 : minor == 23 || minor == 24 ? 199 : 191;
}

}  // namespace

FakeGo::FakeGo(const Build& build)
    : layout_(*find_go_layout(std::clamp(build.minor, 16U, 26U))),
      counter_(build.has_counter ? counter_of(build.minor) : 0),
      is_among_data_(build.is_among_data) {
  GoTableBytes table;
  table.code = build.is_relocated ? 0 : kCode;
  const std::vector<std::pair<int, std::uint8_t>> depths{{kDepth, 0x7f}};
  table.functions = {{0, "_rt0_amd64_linux", {}},
                     {kAdds, "runtime.allgadd", depths},
                     {kChanges, "runtime.casgstatus", depths},
                     {kExit, "runtime.goexit", {}},
                     {kPark, "runtime.gopark", depths},
                     {kWorker, "main.worker", depths},
                     {kServe, "main.serve", depths},
                     {kMain, "runtime.main", depths},
                     {kSweep, "runtime.bgsweep", depths}};
  table.end = kEnd;
  file_.table.bytes = table.bytes();
  file_.table.address = kTable;
  put(std::vector<std::byte>(32), kTable + kBias);
  set(kTable + kBias + 24, kCode + kBias);
  file_.build_info = {kInfo, kInfo + 0x100};
  file_.data = {kReasons, kAll};
  file_.writable = {{kVariables, kVariablesEnd}};
  put_code(build);
  put_variables(build);
}

void FakeGo::put_code(const Build& build) {
  std::vector<std::byte> code(kEnd);
  const auto at = [&](std::uint64_t offset, const std::vector<std::byte>& bytes) {
    std::ranges::copy(bytes, code.begin() + static_cast<std::ptrdiff_t>(offset));
  };
  std::vector<std::byte> adds;
  put_opcode(adds, {0x8b, 0x88});  // MOVL atomicstatus(AX), CX
  put_word(adds, build.status == 0 ? layout_.status : build.status, 4);
  put_opcode(adds, {0x48, 0x8d, 0x05});  // LEAQ runtime.allglock(SB), AX
  put_word(adds, kVariables + 0x1800 - (kCode + kAdds + adds.size() + 4), 4);
  put_opcode(adds, {0x48, 0x8b, 0x1d});  // MOVQ runtime.allgs(SB), BX
  put_word(adds, kAll - (kCode + kAdds + adds.size() + 4), 4);
  at(kAdds, adds);
  std::vector<std::byte> changes;
  put_opcode(changes, {0x0f, 0xb6, 0x97});  // MOVZX waitreason(DI), DX
  put_word(changes, layout_.wait_reason, 4);
  if (counter_ != 0) {
    put_opcode(changes, {0x0f, 0xb6, 0x97});  // MOVZX trackingSeq(DI), DX
    put_word(changes, counter_, 4);
    put_opcode(changes, {0xff, 0xc2});  // INCL DX
    put_opcode(changes, {0x88, 0x97});  // MOVB DL, trackingSeq(DI)
    put_word(changes, counter_, 4);
  }
  at(kChanges, changes);
  put(code, kCode + kBias);
}

void FakeGo::put_variables(const Build& build) {
  put(std::vector<std::byte>(kVariablesEnd - kVariables), kVariables + kBias);
  const std::string version =
      build.version.empty() ? "go1." + std::to_string(build.minor) + ".3" : build.version;
  const std::uint64_t info = kInfo + kBias;
  const std::string magic = "\xff Go buildinf:\x08";
  for (std::size_t i = 0; i < magic.size(); ++i) set(info + i, magic[i]);
  if (build.minor < 18) {
    set(info + 16, put_words({put_text(version), version.size()}));
  } else {
    set(info + 15, std::uint8_t{2});
    set(info + 32, static_cast<std::uint8_t>(version.size()));
    for (std::size_t i = 0; i < version.size(); ++i) set(info + 33 + i, version[i]);
  }
  std::uint64_t place = kReasons + kBias + 0x40;
  for (const std::string& reason : build.reasons) {
    set(place, reason.empty() ? 0 : put_text(reason + std::string(64, ' ')));
    set(place + 8, std::uint64_t{reason.size()});
    place += 16;
  }
  put(std::vector<std::byte>(kMostGoroutines * 8), kList);
  set(all(), kList);
  set(all() + 16, std::uint64_t{kMostGoroutines});
}

std::string FakeGo::image() const {
  struct Part {
    const char* name;
    std::uint64_t address, offset, size;
    std::uint32_t type;
  };
  const std::uint64_t table_size = file_.table.bytes.size();
  constexpr std::uint64_t kVariablesOffset = 0x2000, kTableOffset = 0x4000, kNamesOffset = 0x8000,
                          kSectionsOffset = 0x9000, kBefore = 0x20;
  const std::vector<Part> parts{
      {"", 0, 0, 0, SHT_NULL},
      {".text", kCode, kCodeOffset, kEnd, SHT_PROGBITS},
      is_among_data_ ? Part{".data.rel.ro", kTable - kBefore, kTableOffset - kBefore,
                            table_size + kBefore, SHT_PROGBITS}
                     : Part{".gopclntab", kTable, kTableOffset, table_size, SHT_PROGBITS},
      {".go.buildinfo", kInfo, kVariablesOffset, 0x100, SHT_PROGBITS},
      {".data", kReasons, kVariablesOffset + kReasons - kVariables, kAll - kReasons, SHT_PROGBITS},
      {".names", 0, kNamesOffset, 0x100, SHT_STRTAB}};
  std::string bytes(kSectionsOffset + parts.size() * sizeof(Elf64_Shdr), '\0');
  Elf64_Ehdr header = test::elf_header();
  header.e_phnum = 2;
  header.e_shoff = kSectionsOffset;
  header.e_shnum = static_cast<Elf64_Half>(parts.size());
  header.e_shstrndx = static_cast<Elf64_Half>(parts.size() - 1);
  std::memcpy(bytes.data(), &header, sizeof header);
  const Elf64_Phdr code{PT_LOAD, PF_R | PF_X, kCodeOffset, kCode, kCode, kEnd, kEnd, 0x1000};
  constexpr std::uint64_t kSize = kVariablesEnd - kVariables;
  const Elf64_Phdr variables{PT_LOAD, PF_R | PF_W, kVariablesOffset, kVariables, kVariables, kSize,
                             kSize,   0x1000};
  std::memcpy(bytes.data() + sizeof header, &code, sizeof code);
  std::memcpy(bytes.data() + sizeof header + sizeof code, &variables, sizeof variables);
  std::memcpy(bytes.data() + kTableOffset, file_.table.bytes.data(), table_size);
  std::uint32_t name = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    const std::size_t length = std::strlen(part.name) + 1;
    std::memcpy(bytes.data() + kNamesOffset + name, part.name, length);
    Elf64_Shdr section{};
    section.sh_name = name;
    section.sh_type = part.type;
    section.sh_addr = part.address;
    section.sh_offset = part.offset;
    section.sh_size = part.size;
    std::memcpy(bytes.data() + kSectionsOffset + i * sizeof section, &section, sizeof section);
    name += static_cast<std::uint32_t>(length);
  }
  return bytes;
}

std::uint64_t FakeGo::all() const {
  return kAll + kBias;
}

std::uint64_t FakeGo::list() const {
  return kList;
}

std::uint64_t FakeGo::add(const Goroutine& goroutine) {
  std::vector<std::byte> stack(goroutine.free);
  for (std::size_t i = 1; i <= goroutine.functions.size(); ++i) {
    stack.resize(stack.size() + kDepth);
    const bool is_last = i == goroutine.functions.size();
    const std::uint64_t caller = !is_last             ? goroutine.functions[i] + 0x10
                                 : goroutine.has_root ? kExit + 1
                                                      : 0x100000;
    put_word(stack, kCode + kBias + caller, 8);
  }
  const std::uint64_t low = put(stack);
  const std::uint64_t at = put(std::vector<std::byte>(kGoroutineBytes));
  set(at + kGoStackLow, low);
  set(at + kGoStackHigh, low + stack.size());
  set(at + layout_.stack_pointer, low + goroutine.free);
  set(at + layout_.instruction,
      kCode + kBias + (goroutine.functions.empty() ? kExit : goroutine.functions[0] + 0x10));
  set(at + layout_.status, goroutine.status);
  set(at + layout_.id, goroutine.id);
  set(at + layout_.wait_since, goroutine.since_ns);
  set(at + layout_.wait_reason, goroutine.reason);
  if (counter_ != 0) set(at + counter_, goroutine.counter);
  set(kList + 8 * goroutines_.size(), at);
  goroutines_.push_back(at);
  set(all() + 8, std::uint64_t{goroutines_.size()});
  return at;
}

std::uint64_t FakeGo::stack_of(std::uint64_t goroutine) {
  return *MemoryWords(*this, kTgid).read<std::uint64_t>(goroutine + layout_.stack_pointer);
}

void FakeGo::read(std::span<MemoryPiece> pieces) {
  for (const MemoryPiece& piece : pieces) {
    const auto call = before;  // it may replace itself
    if (call) call(piece);
  }
  FakeMemory::read(pieces);
}

}  // namespace offcpud::testing_go
