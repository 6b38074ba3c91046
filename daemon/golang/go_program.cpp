// SPDX-License-Identifier: Apache-2.0
#include "golang/go_program.h"

#include <utility>
#include <vector>

#include "base/deleted_path.h"
#include "base/printable.h"

namespace offcpud {
namespace {

// The program is mapped first, or behind few others.
constexpr std::size_t kMostFiles = 4;

// The name of the file without its folders, which may be secret to those who may not read the
// process.
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
// be loaded anywhere: src/runtime/symtab.go, pcHeader.textStart. nullopt: the file says it.
std::optional<std::uint64_t> code_in_memory(const GoFile& file, const MemoryWords& memory,
                                            std::uint64_t bias) {
  constexpr std::size_t kPlace = 24;
  constexpr std::uint32_t kGo118 = 0xfffffff0, kGo120 = 0xfffffff1;
  const std::vector<std::uint8_t>& bytes = file.table.bytes;
  const auto magic = value_at<std::uint32_t>(std::as_bytes(std::span(bytes)), 0);
  const bool has_place = magic == kGo118 || magic == kGo120;
  if (bias == 0 || !has_place || bytes.size() < kPlace + sizeof(std::uint64_t)) {
    return std::nullopt;
  }
  const auto code = memory.read<std::uint64_t>(file.table.address + bias + kPlace);
  if (!code || *code == 0) return std::nullopt;
  return *code - bias;
}

// Null: it is no Go program, or cannot be read. Sets `was_read` if it could be read.
std::shared_ptr<const GoFile> read_file_of(const GoProgram::Sources& sources, std::uint32_t tgid,
                                           const MapsLine& line, bool& was_read) {
  if (sources.shared != nullptr) {
    if (auto known = sources.shared->find(line.inode)) {
      was_read = true;
      return known;
    }
  }
  const UniqueFd fd = open_file(sources.files, tgid, line);
  if (!fd) return nullptr;
  auto read = read_go_file(fd.get());
  was_read = was_read || static_cast<bool>(read);
  if (!read || !*read) return nullptr;
  auto file = std::make_shared<const GoFile>(**std::move(read));
  if (sources.shared != nullptr && line.inode.known()) sources.shared->add(line.inode, file);
  return file;
}

}  // namespace

std::shared_ptr<const GoFile> GoFiles::find(const InodeId& inode) const {
  const auto found = files_.find(key_of(inode));
  return found == files_.end() ? nullptr : found->second.lock();
}

void GoFiles::add(const InodeId& inode, const std::shared_ptr<const GoFile>& file) {
  files_[key_of(inode)] = file;
}

std::size_t GoFiles::table_bytes() {
  std::erase_if(files_, [](const auto& file) { return file.second.expired(); });
  std::size_t bytes = 0;
  for (const auto& [inode, file] : files_) {
    if (const auto used = file.lock()) bytes += used->table.bytes.size();
  }
  return bytes;
}

GoProgram::GoProgram(std::string name, std::shared_ptr<const GoFile> file, GoRuntime runtime,
                     GoFunctions functions)
    : name_(std::move(name)),
      file_(std::move(file)),
      runtime_(std::move(runtime)),
      functions_(std::move(functions)) {}

Result<std::unique_ptr<GoProgram>> GoProgram::open(const Sources& sources, std::uint32_t tgid) {
  TRY(const auto process, sources.processes.read(tgid));
  if (!process) return about(tgid, "does not exist, or has no program");
  bool was_read = false;
  for (const MapsLine& line : different_files(process->maps)) {
    const auto file = read_file_of(sources, tgid, line, was_read);
    if (!file) continue;
    const auto bias = file->bias(line.begin, line.offset);
    if (!bias) continue;
    const MemoryWords memory(sources.memory, tgid);
    const auto table = GoFunctionTable::open(file->table.bytes, file->table.program,
                                             code_in_memory(*file, memory, *bias));
    if (!table)
      return about(tgid, "has a table of functions that is not known (" + name_of(line) + ")",
                   ErrorKind::Unsupported);
    FoundGo found = find_go(memory, *file, *table, *bias);
    if (!found.runtime) {
      return about(tgid, "(" + name_of(line) + ") has goroutines that cannot be read: " + found.why,
                   ErrorKind::Unsupported);
    }
    return std::unique_ptr<GoProgram>(new GoProgram(name_of(line), file, *std::move(found.runtime),
                                                    GoFunctions(*table, *bias, sources.functions)));
  }
  if (!was_read) return about(tgid, "has a program that cannot be read", ErrorKind::Internal);
  return about(tgid, "runs no Go program");
}

}  // namespace offcpud
