// SPDX-License-Identifier: Apache-2.0
#include "golang/go_program.h"

#include <cstring>
#include <utility>
#include <vector>

#include "base/deleted_path.h"
#include "base/printable.h"

namespace offcpud {
namespace {

// The program is mapped first, or behind few others.
constexpr std::size_t kMostFiles = 4;

// The name of the file; who may not read the process may not know of the folders above it.
std::string name_of(const MapsLine& line) {
  return printable(std::string_view(line.path).substr(line.path.find_last_of('/') + 1));
}

Error about(std::uint32_t tgid, const std::string& what, ErrorKind kind = ErrorKind::NotFound) {
  return Error("process " + std::to_string(tgid) + " " + what, kind);
}

std::vector<MapsLine> different_files(const std::vector<MapsLine>& maps) {
  std::vector<MapsLine> files;
  for (const MapsLine& line : maps) {
    if (files.size() == kMostFiles) break;
    const bool is_new = files.empty() || files.back().path != line.path;
    if (line.executable && line.path.starts_with('/') && is_new) files.push_back(line);
  }
  return files;
}

UniqueFd open_file(FileOpener& files, std::uint32_t tgid, const MapsLine& line) {
  std::string_view path = line.path;
  const bool is_deleted = remove_deleted(path);
  OpenedFile opened = files.open({.tgid = tgid,
                                  .begin = line.begin,
                                  .end = line.end,
                                  .path = std::string(path),
                                  .deleted = is_deleted,
                                  .build_id = {},
                                  .inode = line.inode,
                                  .root = {}});
  return opened.outcome == OpenedFile::Outcome::Opened ? std::move(opened.fd) : UniqueFd();
}

// Tables of 1.18 to 1.25 have the address of the code, which is only in memory if the program may
// be loaded anywhere: src/runtime/symtab.go, pcHeader.textStart.
void relocate(GoFile& file, const MemoryWords& memory, std::uint64_t bias) {
  constexpr std::size_t kPlace = 24;
  constexpr std::uint32_t kGo118 = 0xfffffff0, kGo120 = 0xfffffff1;
  std::vector<std::uint8_t>& bytes = file.table.bytes;
  const auto magic = value_at<std::uint32_t>(std::as_bytes(std::span(bytes)), 0);
  const bool has_place = magic == kGo118 || magic == kGo120;
  if (!has_place || bytes.size() < kPlace + sizeof(std::uint64_t)) return;
  const auto code = memory.read<std::uint64_t>(file.table.address + bias + kPlace);
  if (!code || *code == 0) return;
  const std::uint64_t linked = *code - bias;
  std::memcpy(bytes.data() + kPlace, &linked, sizeof(linked));
}

}  // namespace

GoProgram::GoProgram(std::string name, GoFile file, GoRuntime runtime, const GoFunctionTable& table,
                     std::uint64_t bias)
    : name_(std::move(name)),
      file_(std::move(file)),
      runtime_(std::move(runtime)),
      functions_(table, bias) {}

Result<std::unique_ptr<GoProgram>> GoProgram::open(const Sources& sources, std::uint32_t tgid) {
  TRY(const auto process, sources.processes.read(tgid));
  if (!process) return about(tgid, "does not exist, or has no program");
  bool was_read = false;
  for (const MapsLine& line : different_files(process->maps)) {
    const UniqueFd fd = open_file(sources.files, tgid, line);
    if (!fd) continue;
    auto read = read_go_file(fd.get());
    was_read = was_read || static_cast<bool>(read);
    if (!read || !*read) continue;
    GoFile file = **std::move(read);
    const auto bias = file.bias(line.begin, line.offset);
    if (!bias) continue;
    const MemoryWords memory(sources.memory, tgid);
    if (*bias != 0) relocate(file, memory, *bias);
    const auto table = GoFunctionTable::open(file.table.bytes, file.table.program);
    if (!table)
      return about(tgid, "has a table of functions that is not known (" + name_of(line) + ")",
                   ErrorKind::Unsupported);
    FoundGo found = find_go(memory, file, *table, *bias);
    if (!found.runtime) {
      return about(tgid, "(" + name_of(line) + ") has goroutines that cannot be read: " + found.why,
                   ErrorKind::Unsupported);
    }
    return std::unique_ptr<GoProgram>(
        new GoProgram(name_of(line), std::move(file), *std::move(found.runtime), *table, *bias));
  }
  if (!was_read) return about(tgid, "has a program that cannot be read", ErrorKind::Internal);
  return about(tgid, "runs no Go program");
}

}  // namespace offcpud
