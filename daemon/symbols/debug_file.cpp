// SPDX-License-Identifier: Apache-2.0
#include "symbols/debug_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <vector>

namespace offcpud {
namespace {

constexpr std::uint64_t kMaxLink = 4096;

// The file name in .gnu_debuglink; empty: there is none. It must be a name, not a path.
std::string debug_link(const ElfFile& object) {
  const ElfSection* section = object.section(".gnu_debuglink");
  if (section == nullptr) return {};
  const auto bytes = object.source().read(section->offset, section->size, kMaxLink);
  if (!bytes) return {};
  std::string name(bytes->begin(), std::ranges::find(*bytes, 0));
  return name.find('/') == std::string::npos ? name : std::string();
}

std::vector<std::string> candidates(const ElfFile& object, const std::string& id,
                                    const std::string& object_path) {
  std::vector<std::string> paths{"/usr/lib/debug/.build-id/" + id.substr(0, 2) + "/" +
                                 id.substr(2) + ".debug"};
  const std::string link = debug_link(object);
  if (link.empty() || !object_path.starts_with('/')) return paths;
  const std::string directory = std::filesystem::path(object_path).parent_path().native();
  const std::string base = directory == "/" ? "" : directory;
  // Not the object itself, which has the right build-id.
  if (base + "/" + link != object_path) paths.push_back(base + "/" + link);
  paths.push_back(base + "/.debug/" + link);
  paths.push_back("/usr/lib/debug" + base + "/" + link);
  return paths;
}

// True for copies, which belong to whoever made them. Files of tmpfs have seals too, but not this
// one.
bool is_sealed_memory(int fd) {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_WRITE) != 0;
}

bool may_name_functions(const std::optional<FileAuthor>& file,
                        const std::optional<FileAuthor>& object) {
  if (!file || (file->rights.mode & S_IWOTH) != 0) return false;
  if (file->of_copy && !(object && object->of_copy)) return false;
  // The owner of a copy is told by its file system, which a user may have made; so it does not
  // count as the same owner as that of a file on a disk.
  return file->rights.owner == 0 ||
         (object && object->of_copy == file->of_copy && file->rights.owner == object->rights.owner);
}

bool has_build_id(int fd, const BuildId& build_id) {
  const auto source = ByteSource::from_file(fd);
  if (!source) return false;
  const auto file = ElfFile::read(*source);
  return file && file->build_id() == build_id;
}

}  // namespace

std::optional<FileAuthor> author_of(int fd, const RootDirectory& root) {
  if (const auto original = root.rights_of_original(fd)) return FileAuthor{*original, true};
  struct stat info {};
  if (is_sealed_memory(fd) || ::fstat(fd, &info) != 0) return std::nullopt;
  return FileAuthor{{.owner = info.st_uid, .mode = info.st_mode}, false};
}

std::optional<UniqueFd> find_debug_file(const ElfFile& object,
                                        const std::optional<FileAuthor>& author,
                                        const std::string& object_path, const RootDirectory& root) {
  const BuildId id = object.build_id();
  if (id.size < 2) return std::nullopt;
  for (const std::string& path : candidates(object, id.hex(), object_path)) {
    auto fd = root.open_file(path, LastLink::Follow);
    if (!fd || !may_name_functions(author_of(fd->get(), root), author)) continue;
    if (has_build_id(fd->get(), id)) return *std::move(fd);
  }
  return std::nullopt;
}

}  // namespace offcpud
