// SPDX-License-Identifier: Apache-2.0
#include "symbols/debug_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <vector>

namespace offcpud {
namespace {

constexpr std::uint64_t kMaxLink = 4096;

// The file name in .gnu_debuglink; empty if there is none. It names a file, not a path.
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
  // The object itself would have the right build-id.
  if (base + "/" + link != object_path) paths.push_back(base + "/" + link);
  paths.push_back(base + "/.debug/" + link);
  paths.push_back("/usr/lib/debug" + base + "/" + link);
  return paths;
}

bool may_name_functions(int fd, uid_t object_owner) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || (info.st_uid != 0 && info.st_uid != object_owner)) return false;
  return (info.st_mode & S_IWOTH) == 0;
}

bool has_build_id(int fd, const BuildId& build_id) {
  const auto source = ByteSource::from_file(fd);
  if (!source) return false;
  const auto file = ElfFile::read(*source);
  return file && file->build_id() == build_id;
}

}  // namespace

std::optional<UniqueFd> find_debug_file(const ElfFile& object, uid_t object_owner,
                                        const std::string& object_path, const RootDirectory& root) {
  const BuildId id = object.build_id();
  if (id.size < 2) return std::nullopt;
  for (const std::string& path : candidates(object, id.hex(), object_path)) {
    auto fd = root.open_file(path, LastLink::Follow);
    if (!fd || !may_name_functions(fd->get(), object_owner)) continue;
    if (has_build_id(fd->get(), id)) return *std::move(fd);
  }
  return std::nullopt;
}

}  // namespace offcpud
