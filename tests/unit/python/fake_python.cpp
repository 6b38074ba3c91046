// SPDX-License-Identifier: Apache-2.0
#include "unit/python/fake_python.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

namespace offcpud::testing_python {
namespace {

constexpr std::uint64_t kHeaders = 64, kDynamic = 0x200, kHashes = 0x300, kSymbols = 0x400,
                        kNames = 0x600, kVersion = 0x700, kSize = 0x3000;
constexpr std::size_t kPointer = 8;

struct Exported {
  const char* name;
  std::uint64_t at, size;
};

std::uint32_t gnu_hash(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

}  // namespace

FakePython::FakePython(std::uint32_t minor, std::uint32_t hex)
    : minor_(minor), layout_(*find_python_layout(std::min(minor, 14U))) {
  put(std::vector<std::byte>(kSize), kBase);
  put(std::vector<std::byte>(kStackSize), kStack);
  put_library(hex != 0 ? hex : 0x030000f0U | minor << 16U);
  set<std::uint32_t>(runtime() + layout_.thread_key, kKey);
  if (layout_.has_debug_offsets()) put_debug_offsets();
}

void FakePython::put_library(std::uint32_t hex) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_phoff = kHeaders;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  set(kBase, header);
  Elf64_Phdr segment{};
  segment.p_type = PT_LOAD;
  set(kBase + kHeaders, segment);
  segment.p_type = PT_DYNAMIC;
  segment.p_vaddr = kDynamic;
  segment.p_memsz = 4 * sizeof(Elf64_Dyn);
  set(kBase + kHeaders + sizeof(segment), segment);
  const std::array<Elf64_Dyn, 3> dynamic{{{DT_SYMTAB, {kBase + kSymbols}},
                                          {DT_STRTAB, {kBase + kNames}},
                                          {DT_GNU_HASH, {kHashes}}}};  // not relocated, as by musl
  set(kBase + kDynamic, dynamic);

  std::vector<Exported> exported{{"_PyRuntime", 0x1000, 0x1000},
                                 {"PyCode_Type", 0x800, 0x100},
                                 {"_PyEval_EvalFrameDefault", 0x900, 0x100}};
  if (layout_.minor >= 11) exported.push_back({"Py_Version", kVersion, 4});
  set(kBase + kVersion, hex);
  set(kBase + kHashes, std::array<std::uint32_t, 4>{1, 1, 1, 0});
  set<std::uint32_t>(kBase + kHashes + 24, 1);  // the only bucket, behind a filter of one word
  std::uint64_t name = 1;
  for (std::size_t i = 0; i < exported.size(); ++i) {
    const std::string_view text = exported[i].name;
    for (std::size_t c = 0; c < text.size(); ++c) set(kBase + kNames + name + c, text[c]);
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(name);
    symbol.st_shndx = 1;
    symbol.st_value = exported[i].at;
    symbol.st_size = exported[i].size;
    set(kBase + kSymbols + (i + 1) * sizeof(symbol), symbol);
    const std::uint32_t last = i + 1 == exported.size() ? 1 : 0;
    set<std::uint32_t>(kBase + kHashes + 28 + 4 * i, (gnu_hash(text) & ~1U) | last);
    name += text.size() + 1;
  }
}

// The words that are compared, as in pycore_debug_offsets.h of each version.
void FakePython::put_debug_offsets() {
  std::array<std::uint64_t, 64> words{};
  std::memcpy(words.data(), "xdebugpy", 8);
  words[1] = 0x030000f0U | minor_ << 16U;
  words[5] = layout_.interpreters;
  const std::size_t thread = minor_ == 13 ? 19 : 22, frame = thread + 9;
  const std::size_t code = frame + (minor_ == 13 ? 6 : 8);
  words[thread + 4] = layout_.frame;
  words[thread + 5] = layout_.thread_id;
  words[frame + 1] = layout_.previous;
  words[frame + 2] = layout_.code;
  words[frame + 3] = layout_.instruction;
  words[frame + 5] = layout_.owner;
  words[code + 1] = layout_.file;
  words[code + 3] = layout_.name;
  words[code + 4] = layout_.lines;
  words[code + 5] = layout_.first_line;
  words[code + 9] = layout_.instructions;
  set(runtime(), words);
}

std::uint64_t FakePython::put_string(std::string_view text) {
  std::vector<std::byte> object(layout_.ascii + text.size() + 1);
  std::memcpy(object.data() + layout_.ascii, text.data(), text.size());
  const std::uint64_t at = put(object);
  set<std::uint64_t>(at + 16, text.size());
  set<std::uint32_t>(at + 32, 1U << 2U | 1U << 5U | 1U << 6U);
  return at;
}

std::uint64_t FakePython::put_string(const std::u16string& text) {
  std::vector<std::byte> object(layout_.compact + 2 * text.size() + 2);
  std::memcpy(object.data() + layout_.compact, text.data(), 2 * text.size());
  const std::uint64_t at = put(object);
  set<std::uint64_t>(at + 16, text.size());
  set<std::uint32_t>(at + 32, 2U << 2U | 1U << 5U);
  return at;
}

std::uint64_t FakePython::put_bytes(std::string_view bytes) {
  std::vector<std::byte> object(32 + bytes.size() + 1);
  std::memcpy(object.data() + 32, bytes.data(), bytes.size());
  const std::uint64_t at = put(object);
  set<std::uint64_t>(at + 16, bytes.size());
  return at;
}

std::uint64_t FakePython::add_code(const Function& function) {
  const std::uint64_t name =
      function.wide.empty() ? put_string(function.name) : put_string(function.wide);
  const std::uint64_t file = put_string(function.file), lines = put_bytes(function.lines);
  const std::uint64_t code = put(std::vector<std::byte>(1024));
  set<std::uint64_t>(code + kPointer, code_type());
  set<std::uint64_t>(code + 16, 1000);  // instructions, from 3.11 on
  set(code + layout_.name, name);
  set(code + layout_.file, file);
  set(code + layout_.lines, lines);
  set(code + layout_.first_line, function.first_line);
  return code;
}

std::uint64_t FakePython::add_thread(const std::vector<Call>& calls) {
  constexpr std::uint64_t kFrame = 128;
  const std::uint64_t self = put(std::vector<std::byte>(0x800));
  state_ = put(std::vector<std::byte>(512));
  set(self + 0x310 + 16 * kKey + 8, state_);
  set(state_ + layout_.thread_id, self);
  const std::uint64_t chunk = put(std::vector<std::byte>((calls.size() + 4) * kFrame));
  frames_.clear();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    frames_.push_back(chunk + (calls.size() - i) * kFrame);
  }
  const std::uint64_t innermost = frames_.empty() ? 0 : frames_.front();
  const std::uint64_t own_cframe = state_ + 400;  // of the thread state itself
  std::uint64_t first_cframe = own_cframe, last_cframe = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Call& call = calls[i];
    const std::uint64_t at = frames_[i];
    std::uint64_t next = i + 1 < calls.size() ? frames_[i + 1] : 0;
    set(at + layout_.code, call.code);
    const std::uint32_t unit = layout_.instruction_unit();
    if (unit != 0) {
      set(at + layout_.instruction, static_cast<std::int32_t>(call.offset / unit));
    } else {
      set(at + layout_.instruction,
          call.code + layout_.instructions + static_cast<std::uint64_t>(call.offset));
    }
    if (call.host != 0 && layout_.is_entry != 0) {
      set<std::uint8_t>(at + layout_.is_entry, 1);
      if (last_cframe == 0) {
        first_cframe = call.host;
        set(call.host + layout_.cframe_frame, innermost);
      } else {
        set(last_cframe + layout_.cframe_previous, call.host);
      }
      last_cframe = call.host;
    }
    if (call.host != 0 && layout_.has_shims()) {
      set<std::uint8_t>(call.host + layout_.owner, 3);
      set(call.host + layout_.previous, next);
      next = call.host;
    }
    set(at + layout_.previous, next);
  }
  if (layout_.has_shims() && layout_.has_cframes) {
    set(own_cframe + layout_.cframe_frame, innermost);
  }
  set(state_ + layout_.frame, layout_.has_cframes ? first_cframe : innermost);
  return self;
}

void FakePython::number_thread(std::uint64_t thread_pointer, std::uint32_t tid) {
  if (layout_.has_native_id()) {
    set<std::uint64_t>(state_ + layout_.native_id(), tid);
  } else {
    set<std::uint32_t>(thread_pointer + 0x2d0, tid);
  }
}

std::uint64_t FakePython::add_gil() {
  gil_ = runtime() + layout_.gil;
  if (!layout_.has_gil_pointer()) return gil_;
  const std::uint64_t interpreter = put(std::vector<std::byte>(1024));
  gil_ = put(std::vector<std::byte>(256));
  set(runtime() + layout_.interpreters + 8, interpreter);
  set(interpreter + layout_.gil, gil_);
  return gil_;
}

void FakePython::set_gil(const Gil& gil) {
  set(gil_ + 8, gil.holder);
  set<std::int32_t>(gil_ + 16, gil.is_held ? 1 : 0);
  set(gil_ + 24, gil.switches);
}

}  // namespace offcpud::testing_python
