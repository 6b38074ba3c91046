// SPDX-License-Identifier: Apache-2.0
#include "elf/go_function_table.h"

#include <algorithm>
#include <array>

namespace offcpud {
namespace {

// The first word of the section. Each is named after the version of Go that introduced it.
constexpr std::uint32_t kGo116 = 0xfffffffa, kGo118 = 0xfffffff0, kGo120 = 0xfffffff1;

constexpr std::size_t kMaxName = 4096;  // longer names cannot be shown anyway

Bytes after(Bytes bytes, std::uint64_t offset) {
  return bytes.subspan(static_cast<std::size_t>(std::min<std::uint64_t>(offset, bytes.size())));
}

std::string_view text_at(Bytes bytes, std::uint64_t offset) {
  const Bytes from = after(bytes, offset);
  const std::string_view text(reinterpret_cast<const char*>(from.data()),
                              std::min(from.size(), kMaxName));
  const std::size_t end = text.find('\0');
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end);
}

// Where the table begins within other data: after the first word, which only versions from 1.18 on
// have, come two zeros, the size of the smallest instruction, and that of a pointer.
std::optional<std::size_t> find_table(Bytes bytes) {
  constexpr std::size_t kAlignment = 8;
  constexpr std::array<std::uint8_t, 7> kRest{0xff, 0xff, 0xff, 0, 0, 1, 8};
  for (std::size_t at = 0; at + 1 + kRest.size() <= bytes.size(); at += kAlignment) {
    const bool is_known = bytes[at] == 0xf0 || bytes[at] == 0xf1;
    if (is_known && std::ranges::equal(kRest, bytes.subspan(at + 1, kRest.size()))) return at;
  }
  return std::nullopt;
}

}  // namespace

std::optional<GoFunctionTable> GoFunctionTable::open(Bytes section, const Program& program,
                                                     std::optional<std::uint64_t> code) {
  ByteReader header(section);
  const auto magic = header.take<std::uint32_t>();
  (void)header.take<std::uint16_t>();
  const auto quantum = header.take<std::uint8_t>();
  const auto word = header.take<std::uint8_t>();
  if ((magic != kGo116 && magic != kGo118 && magic != kGo120) || quantum != 1 || word != 8) {
    return std::nullopt;
  }
  GoFunctionTable table;
  const auto count = header.take<std::uint64_t>();
  (void)header.take<std::uint64_t>();  // number of files
  bool has_code = true;
  if (magic == kGo116) {
    table.entry_size_ = 8;  // entries are addresses
  } else {
    const auto written = header.take<std::uint64_t>();
    const std::uint64_t said = code.value_or(written);
    table.code_ = said != 0 ? said : program.text;
    has_code = said != 0;
  }
  std::array<std::uint64_t, 5> offsets{};  // of names, units, files, values by address, functions
  for (std::uint64_t& offset : offsets) offset = header.take<std::uint64_t>();
  if (!header.ok()) return std::nullopt;
  table.names_ = after(section, offsets[0]);
  table.depths_ = after(section, offsets[3]);
  table.functions_ = after(section, offsets[4]);
  // The end of the last function follows its entry.
  const std::size_t room = table.functions_.size() / table.entry_size_;
  if (room < 3 || count == 0 || count > (room - 1) / 2) return std::nullopt;
  table.count_ = static_cast<std::size_t>(count);
  if (!has_code && !table.begins_at(program.entry)) return std::nullopt;
  return table;
}

bool GoFunctionTable::begins_at(std::uint64_t entry) const {
  for (std::size_t i = 0; i < count_; ++i) {
    if (code_ + entry_word(2 * i) != entry) continue;
    const auto first = function(i);
    return first && first->name.starts_with("_rt0_");
  }
  return false;
}

std::uint64_t GoFunctionTable::entry_word(std::size_t index) const {
  ByteReader reader(after(functions_, index * entry_size_));
  return entry_size_ == 8 ? reader.take<std::uint64_t>() : reader.take<std::uint32_t>();
}

std::optional<GoFunction> GoFunctionTable::function(std::size_t index) const {
  GoFunction function;
  function.begin = code_ + entry_word(2 * index);
  function.end = code_ + entry_word(2 * index + 2);
  ByteReader about(after(functions_, entry_word(2 * index + 1)));
  (void)about.take_bytes(entry_size_);  // its address again
  const auto name = about.take<std::uint32_t>();
  (void)about.take<std::uint64_t>();  // arguments, deferreturn
  function.depth = about.take<std::uint32_t>();
  if (!about.ok() || function.begin >= function.end) return std::nullopt;
  function.name = text_at(names_, name);
  return function;
}

std::optional<GoFunction> GoFunctionTable::find(std::uint64_t address) const {
  std::size_t first = 0;
  std::size_t end = count_;
  while (end - first > 1) {
    const std::size_t middle = first + (end - first) / 2;
    (code_ + entry_word(2 * middle) <= address ? first : end) = middle;
  }
  const auto found = function(first);
  if (!found || address < found->begin || address >= found->end) return std::nullopt;
  return found;
}

Result<GoSection> read_go_section(const ElfFile& file, std::uint64_t most) {
  GoSection go;
  const ElfSection* section = file.section(".gopclntab");
  if (section == nullptr) section = file.section(".data.rel.ro.gopclntab");  // of Go with PIE
  if (section == nullptr) return go;
  if (section->size > most) {
    return Error("read object: its .gopclntab is longer than a program's", ErrorKind::Unsupported);
  }
  TRY(go.bytes, file.source().read_up_to(section->offset, section->size));
  go.address = section->address;
  const ElfSection* code = file.section(".text");
  go.program = {.text = code == nullptr ? 0 : code->address, .entry = file.entry()};
  return go;
}

Result<GoSection> find_go_section(const ElfFile& file) {
  GoSection go;
  const ElfSection* const section = file.section(".data.rel.ro");
  const ElfSection* const code = file.section(".text");
  if (section == nullptr || code == nullptr || section->size > kMaxGoTable) return go;
  TRY(auto bytes, file.source().read_up_to(section->offset, section->size));
  const auto at = find_table(bytes);
  if (!at) return go;
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(*at));
  go.bytes = std::move(bytes);
  go.address = section->address + *at;
  go.program = {.text = code->address, .entry = file.entry()};
  return go;
}

// Go's varints are less than 2^32; longer ones are invalid.
std::uint32_t GoStackDepths::take() {
  return static_cast<std::uint32_t>(reader_.take_uleb());
}

bool GoStackDepths::next() {
  const std::uint32_t change = take();
  if (change == 0 && !first_) return false;
  const std::uint32_t length = take();
  if (!reader_.ok() || length == 0) return false;
  first_ = false;
  depth_ = static_cast<std::int32_t>(static_cast<std::uint32_t>(depth_) +
                                     ((change & 1U) != 0 ? ~(change >> 1U) : change >> 1U));
  begin_ = end_;
  end_ += length;
  return true;
}

}  // namespace offcpud
