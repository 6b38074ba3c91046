// SPDX-License-Identifier: Apache-2.0
#include "mappings/local_files.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/file_io.h"
#include "mappings/mapped_file_id.h"

namespace offcpud {
namespace {

using Outcome = OpenedFile::Outcome;

constexpr std::size_t kMountinfoLimit = std::size_t{4} << 20;
constexpr std::size_t kMaxMountTables = 64;
// A slower copy is abandoned, because other requests wait behind it.
constexpr std::chrono::milliseconds kCopying{150};

// Values of f_type in statfs(2) that linux/magic.h lacks.
constexpr long kXfs = 0x58465342;
constexpr long kExfat = 0x2011BAB0;
constexpr long kNtfs3 = 0x7366746e;
constexpr long kZfs = 0x2fc12fc1;
constexpr long kBcachefs = 0xca451a4e;
constexpr long kUdf = 0x15013346;
constexpr long kJfs = 0x3153464a;
constexpr long kErofs = 0xE0F5E1E2;
constexpr std::array<long, 19> kLocalTypes = {EXT4_SUPER_MAGIC,  // also ext2 and ext3
                                              kXfs,
                                              BTRFS_SUPER_MAGIC,
                                              TMPFS_MAGIC,
                                              RAMFS_MAGIC,
                                              F2FS_SUPER_MAGIC,
                                              SQUASHFS_MAGIC,
                                              kErofs,
                                              MSDOS_SUPER_MAGIC,
                                              kExfat,
                                              kNtfs3,
                                              kZfs,
                                              kBcachefs,
                                              ISOFS_SUPER_MAGIC,
                                              kUdf,
                                              kJfs,
                                              HUGETLBFS_MAGIC,
                                              BTRFS_TEST_MAGIC,
                                              CRAMFS_MAGIC};

LocalFiles::Opening no_opening(Outcome outcome) {
  LocalFiles::Opening opening;
  opening.outcome = outcome;
  return opening;
}

MountTable read_mounts(const std::string& process) {
  const auto text = read_file("/proc/" + process + "/mountinfo", kMountinfoLimit);
  return text ? MountTable::parse(*text) : MountTable();
}

// Whether the mounts that the process sees were made by an administrator of this host, not by
// somebody who is root only in a user namespace.
bool is_mounted_by_administrator(const std::string& process) {
  const UniqueFd mounts(::open(("/proc/" + process + "/ns/mnt").c_str(), O_RDONLY | O_CLOEXEC));
  if (!mounts) return false;
  const UniqueFd owner(::ioctl(mounts.get(), NS_GET_USERNS));
  struct stat info {};
  constexpr ino_t kInitialUserNamespace = 0xEFFFFFFD;  // PROC_USER_INIT_INO of proc_ns.h
  return owner && ::fstat(owner.get(), &info) == 0 && info.st_ino == kInitialUserNamespace;
}

// Copies `size` bytes from `begin` on. False: they could not all be read in time.
bool copy_bytes(int from, std::uint64_t begin, int to, std::uint64_t size) {
  const auto until = std::chrono::steady_clock::now() + kCopying;
  std::array<char, 65536> buffer{};
  for (std::uint64_t done = 0; done < size;) {
    if (std::chrono::steady_clock::now() > until) return false;
    const ssize_t got =
        ::pread(from, buffer.data(), buffer.size(), static_cast<off_t>(begin + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    const auto bytes = std::min<std::uint64_t>(static_cast<std::uint64_t>(got), size - done);
    if (write_all(to, {buffer.data(), bytes}) != 0) return false;
    done += bytes;
  }
  return true;
}

}  // namespace

LocalFiles::Opening LocalFiles::open(UniqueFd handle, const std::string& process) {
  Opening opening;
  // AT_STATX_DONT_SYNC: ask no server.
  if (::statx(handle.get(), "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
              STATX_TYPE | STATX_INO | STATX_SIZE | STATX_UID | STATX_MTIME | STATX_MNT_ID,
              &opening.info) != 0) {
    return no_opening(outcome_of_errno(errno));
  }
  const struct statx& info = opening.info;
  if (!S_ISREG(info.stx_mode)) return no_opening(Outcome::NotAFile);
  // The cached table may be outdated, so it is used only to avoid asking a server.
  auto answer = mounts_of(process).of_mount(info.stx_mnt_id);
  if (answer == MountTable::Answer::Unknown) answer = mounts_of("self").of_mount(info.stx_mnt_id);
  if (answer == MountTable::Answer::Remote) return no_opening(Outcome::Remote);
  if (touch_ && !touch_(info.stx_mnt_id)) {
    return no_opening(Outcome::Refused);
  }
  opening.local = answers_by_itself(handle.get(), info, process);
  const std::string again = "/proc/self/fd/" + std::to_string(handle.get());
  opening.fd.reset(::open(again.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!opening.fd) return no_opening(outcome_of_errno(errno));
  opening.outcome = Outcome::Opened;
  return opening;
}

// While the handle is open its mount exists, so its number is valid in a table read now.
bool LocalFiles::answers_by_itself(int handle, const struct statx& info,
                                   const std::string& process) const {
  struct statfs system {};
  if (::fstatfs(handle, &system) != 0) return false;
  if (std::ranges::count(kLocalTypes, static_cast<long>(system.f_type)) > 0) return true;
  if (system.f_type != OVERLAYFS_SUPER_MAGIC || !is_mounted_by_administrator(process)) return false;
  const MountTable layers = read_mounts("1");
  return read_mounts(process).is_local_overlay(info.stx_mnt_id, layers);
}

OpenedFile LocalFiles::hand_out(Opening opening, std::uint64_t last_bytes) {
  OpenedFile file = not_opened(opening.outcome);
  if (opening.outcome != Outcome::Opened) return file;
  if (opening.local) {
    file.fd = std::move(opening.fd);
    return file;
  }
  const std::uint64_t size = std::min<std::uint64_t>(opening.info.stx_size, last_bytes);
  if (size > kMostCopied) return not_opened(Outcome::TooLarge);
  if (!memory_ || size > room_) {
    file.outcome = Outcome::Refused;
    file.copied = std::max<std::uint64_t>(size, 1);
    return file;
  }
  file.original = original_file(opening.fd.get());
  const UniqueFd memory = std::move(memory_);
  if (!copy_bytes(opening.fd.get(), opening.info.stx_size - size, memory.get(), size)) {
    return not_opened(Outcome::Slow);
  }
  file.copied = size;
  return file;
}

MountTable::Answer LocalFiles::of_path(const std::string& process, const std::string& path) {
  return mounts_of(process).of_path(path);
}

const MountTable& LocalFiles::mounts_of(const std::string& process) {
  const auto known = mounts_.find(process);
  if (known != mounts_.end()) return known->second;
  if (mounts_.size() >= kMaxMountTables) mounts_.clear();
  return mounts_.emplace(process, read_mounts(process)).first->second;
}

}  // namespace offcpud
