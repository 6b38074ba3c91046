// SPDX-License-Identifier: Apache-2.0
#include "mappings/mapped_file_id.h"

#include <fcntl.h>
#include <linux/ioctl.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>

#include "base/file_io.h"
#include "base/unique_handle.h"
#include "mappings/proc_maps.h"

namespace offcpud {
namespace {

constexpr std::size_t kMapsLimit = std::size_t{8} << 20;  // 65,530 mappings

// PROCMAP_QUERY of include/uapi/linux/fs.h, since Linux 6.11 (ed5d583a88a9).
struct MapQuery {
  std::uint64_t size, flags, address;
  std::uint64_t begin, end, mapping_flags, page_bytes, offset, inode;
  std::uint32_t device_major, device_minor, name_size, build_id_size;
  std::uint64_t name_address, build_id_address;
};
static_assert(sizeof(MapQuery) == 104);
constexpr unsigned long kProcmapQuery = _IOWR('f', 17, MapQuery);

// A page of a file that is mapped only to appear in /proc/self/maps; never read.
class MappedPage {
 public:
  explicit MappedPage(int fd) : memory_(::mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, fd, 0)) {}
  MappedPage(const MappedPage&) = delete;
  MappedPage& operator=(const MappedPage&) = delete;
  ~MappedPage() {
    if (exists()) ::munmap(memory_, kBytes);
  }
  [[nodiscard]] bool exists() const { return memory_ != MAP_FAILED; }
  [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(memory_); }

 private:
  static constexpr std::size_t kBytes = 1;  // the kernel maps a whole page
  void* memory_;
};

std::optional<InodeId> ask_kernel(std::uint64_t address) {
  const UniqueFd maps(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  if (!maps) return std::nullopt;
  MapQuery query{};
  query.size = sizeof query;
  query.address = address;
  if (::ioctl(maps.get(), kProcmapQuery, &query) == 0) {
    return InodeId{query.device_major, query.device_minor, query.inode};
  }
  const auto text = read_file("/proc/self/maps", kMapsLimit);
  return text ? find_in_maps(*text, address) : std::nullopt;
}

}  // namespace

std::optional<InodeId> find_in_maps(std::string_view maps, std::uint64_t address) {
  while (!maps.empty()) {
    const std::string_view line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(line.size() + 1, maps.size()));
    const auto mapping = parse_maps_line(line);
    if (mapping && mapping->begin == address) return mapping->inode;
  }
  return std::nullopt;
}

InodeId mapped_file_id(int fd, const struct stat& status) {
  const InodeId own{gnu_dev_major(status.st_dev), gnu_dev_minor(status.st_dev), status.st_ino};
  const MappedPage page(fd);
  if (!page.exists()) return own;
  const auto mapped = ask_kernel(page.address());
  if (!mapped || *mapped == own) return own;
  struct statfs system {};
  const bool is_btrfs = ::fstatfs(fd, &system) == 0 && system.f_type == BTRFS_SUPER_MAGIC;
  return is_btrfs ? own : *mapped;
}

std::optional<FileVersion> version_of_file(int fd) {
  const auto file = original_file(fd);
  if (!file) return std::nullopt;
  return file->version;
}

std::optional<OriginalFile> original_file(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return std::nullopt;
  const FileVersion version{
      .inode = mapped_file_id(fd, info),
      .size = static_cast<std::uint64_t>(info.st_size),
      .changed_ns = std::int64_t{info.st_ctim.tv_sec} * 1'000'000'000 + info.st_ctim.tv_nsec};
  return OriginalFile{version, {.owner = info.st_uid, .mode = info.st_mode}};
}

}  // namespace offcpud
