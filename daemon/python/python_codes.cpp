// SPDX-License-Identifier: Apache-2.0
#include "python/python_codes.h"

#include <algorithm>

#include "python/python_lines.h"
#include "reader/memory_words.h"

namespace offcpud {
namespace {

// Of strings and tables: enough for nearly all of them.
constexpr std::size_t kTextAtOnce = 192, kTableAtOnce = 320;
// Offsets: of an object's type, of the size of objects of various sizes, and of the data of bytes.
constexpr std::size_t kType = 8, kSize = 16, kBytesData = 32;
constexpr std::uint64_t kMostInstructions = std::uint64_t{1} << 32;

}  // namespace

// Parts that are read together. What cannot be read makes a part shorter.
class PythonCodes::Batch {
 public:
  void add(const Code& code, std::uint64_t address, Part& part, std::size_t size) {
    part.wanted = size;
    part.bytes.resize(size);
    pieces_.push_back({.tgid = code.tgid, .tid = code.tid, .address = address, .to = part.bytes});
    parts_.push_back(&part);
  }

  // Makes `size` bytes from offset `begin` of the object all that the part has: from what is read
  // already, or else later.
  void keep(const Code& code, Part& part, std::uint64_t begin, std::size_t size) {
    std::vector<std::byte>& have = part.bytes;
    if (begin > have.size() || size > have.size() - begin) {
      return add(code, part.address + begin, part, size);
    }
    have.erase(have.begin(), have.begin() + static_cast<std::ptrdiff_t>(begin));
    have.resize(size);
    part.wanted = size;
  }

  void read(ProcessMemory& memory) {
    memory.read(pieces_);
    for (std::size_t i = 0; i < pieces_.size(); ++i) parts_[i]->bytes.resize(pieces_[i].got);
  }

 private:
  std::vector<MemoryPiece> pieces_;
  std::vector<Part*> parts_;
};

void PythonCodes::add(std::uint32_t tgid, std::uint32_t tid, const PythonRuntime& runtime,
                      std::uint64_t code) {
  const std::pair key(tgid, code);
  std::size_t& functions = functions_[tgid];
  if (functions == kMostFunctions || codes_.contains(key)) return;
  ++functions;
  Code& added = codes_[key];
  added.runtime = &runtime;
  added.tgid = tgid;
  added.tid = tid;
  added.head.address = code;
}

void PythonCodes::read(ProcessMemory& memory) {
  read_heads(memory);
  read_beginnings(memory);
  read_rest(memory);
  for (auto& [key, code] : codes_) {
    if (!code.is_code) continue;
    code.function = python_function_name(python_characters(code.name.bytes, code.name_width),
                                         python_characters(code.file.bytes, code.file_width));
  }
}

void PythonCodes::read_heads(ProcessMemory& memory) {
  Batch batch;
  for (auto& [key, code] : codes_) {
    batch.add(code, code.head.address, code.head, code.runtime->layout->code_bytes);
  }
  batch.read(memory);
  for (auto& [key, code] : codes_) {
    const PythonLayout& layout = *code.runtime->layout;
    const std::span<const std::byte> head(code.head.bytes);
    code.is_code =
        code.head.is_whole() && value_at<std::uint64_t>(head, kType) == code.runtime->code_type;
    code.name.address = value_at<std::uint64_t>(head, layout.name);
    code.file.address = value_at<std::uint64_t>(head, layout.file);
    code.lines.address = value_at<std::uint64_t>(head, layout.lines);
    code.first_line = value_at<std::uint32_t>(head, layout.first_line);
    code.instructions = std::min(value_at<std::uint64_t>(head, kSize), kMostInstructions);
  }
}

void PythonCodes::read_beginnings(ProcessMemory& memory) {
  Batch batch;
  for (auto& [key, code] : codes_) {
    if (!code.is_code) continue;
    batch.add(code, code.name.address, code.name, kTextAtOnce);
    batch.add(code, code.file.address, code.file, kTextAtOnce);
    batch.add(code, code.lines.address, code.lines, kTableAtOnce);
  }
  batch.read(memory);
}

// Afterwards the parts are what is kept: characters, and the bytes of the table.
void PythonCodes::read_rest(ProcessMemory& memory) {
  Batch batch;
  for (auto& [key, code] : codes_) {
    if (!code.is_code) continue;
    code.is_code = want_text(batch, code, code.name, code.name_width, false) &&
                   want_text(batch, code, code.file, code.file_width, true);
    if (code.is_code) want_lines(batch, code);
  }
  batch.read(memory);
  for (auto& [key, code] : codes_) {
    code.is_code = code.is_code && code.name.is_whole() && code.file.is_whole();
    code.has_lines = code.has_lines && code.lines.is_whole();
  }
}

bool PythonCodes::want_text(Batch& batch, const Code& code, Part& part, std::uint32_t& width,
                            bool is_path) {
  const auto text = PythonText::read(*code.runtime->layout, part.bytes);
  if (!text) return false;
  width = text->width;
  const std::uint64_t count = std::min(text->length, kMostCharacters);
  const std::uint64_t skipped = is_path ? text->length - count : 0;
  batch.keep(code, part, text->offset + skipped * width, count * width);
  return true;
}

void PythonCodes::want_lines(Batch& batch, Code& code) {
  const auto size = value_at<std::uint64_t>(code.lines.bytes, kSize);
  std::size_t& tables = tables_[code.tgid];
  code.has_lines =
      code.lines.bytes.size() >= kBytesData && size <= kMostTable && size <= kMostTables - tables;
  if (!code.has_lines) return;
  tables += size;
  batch.keep(code, code.lines, kBytesData, size);
}

// 0 where the instruction is not within the code.
std::uint32_t PythonCodes::line_of(const Code& code, std::uint64_t address,
                                   std::uint64_t instruction) {
  if (!code.has_lines) return 0;
  const PythonLayout& layout = *code.runtime->layout;
  std::int64_t offset = 0;
  if (const std::uint32_t unit = layout.instruction_unit(); unit != 0) {
    // -1: it has not begun.
    const auto index = static_cast<std::int32_t>(static_cast<std::uint32_t>(instruction));
    if (index < -1) return 0;
    offset = std::int64_t{index} * unit;
  } else {
    offset = static_cast<std::int64_t>(instruction - (address + layout.instructions));
    // 3.11 and 3.12 have the instruction before the next one.
    if (offset < -2 || offset > static_cast<std::int64_t>(2 * code.instructions)) return 0;
  }
  const auto* const table = reinterpret_cast<const std::uint8_t*>(code.lines.bytes.data());
  return python_line(layout.minor, Bytes(table, code.lines.bytes.size()), code.first_line, offset);
}

std::optional<PythonFrame> PythonCodes::describe(std::uint32_t tgid,
                                                 const PythonCodeFrame& frame) const {
  const auto found = codes_.find({tgid, frame.code});
  if (found == codes_.end()) {
    return PythonFrame{.function = kLeftOut, .line = 0, .host = frame.host};
  }
  const Code& code = found->second;
  if (!code.is_code) return std::nullopt;
  return PythonFrame{.function = code.function,
                     .line = line_of(code, frame.code, frame.instruction),
                     .host = frame.host};
}

}  // namespace offcpud
