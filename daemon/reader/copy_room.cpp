// SPDX-License-Identifier: Apache-2.0
#include "reader/copy_room.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <set>
#include <string>

#include "base/memory_file.h"
#include "mappings/local_files.h"

namespace offcpud {
namespace {

constexpr std::chrono::seconds kLookEvery{1};

// The largest copy must fit when the room is empty, or it would be tried for ever.
static_assert(LocalFiles::kMostCopied <= CopyRoom::kMost - CopyRoom::kKept);

// Fixes the size, so that a reader cannot write more than was reserved, whatever it does.
Status limit(int memory, std::uint64_t bytes) {
  if (::ftruncate(memory, static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(memory, F_ADD_SEALS, F_SEAL_GROW) != 0) {
    return Error::from_errno(errno, "make room for a copy");
  }
  return {};
}

}  // namespace

CopyPlace::~CopyPlace() {
  if (room_ == nullptr) return;
  (void)!::ftruncate(memory_.get(), 0);  // the file has not been sealed against shrinking yet
  room_->settle(bytes_, -1, {.bytes = 0, .original = {}, .owner = owner_});
}

Result<UniqueFd> CopyPlace::keep(std::uint64_t bytes, const std::optional<OriginalFile>& original) {
  constexpr int kSeals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_SEAL;
  if (bytes > bytes_ || ::ftruncate(memory_.get(), static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(memory_.get(), F_ADD_SEALS, kSeals) != 0) {
    return Error::from_errno(errno, "seal a copy");
  }
  std::exchange(room_, nullptr)->settle(bytes_, memory_.get(), {bytes, original, owner_});
  return std::move(memory_);
}

Result<CopyPlace> CopyRoom::reserve(std::uint64_t bytes, const ShareOwner& owner) {
  TRY(UniqueFd memory, memory_file("offcpud-copy"));
  TRY_VOID(limit(memory.get(), bytes));
  const std::lock_guard lock(mutex_);
  if (!has_room(bytes, owner)) forget_closed();
  if (!has_room(bytes, owner)) return Error("there is no room for another copy");
  reserved_[owner] += bytes;
  return CopyPlace(*this, std::move(memory), bytes, owner);
}

std::uint64_t CopyRoom::left() {
  const std::lock_guard lock(mutex_);
  forget_closed();
  return kMost - std::min(kMost, held({}).by_all);
}

bool CopyRoom::has_room(std::uint64_t bytes, const ShareOwner& owner) const {
  const Held now = held(owner);
  if (now.by_all > kMost || bytes > kMost - now.by_all) return false;
  const std::uint64_t rest = kMost - now.by_all - bytes;
  return rest >= kKept || now.by_owner + bytes <= rest;
}

CopyRoom::Held CopyRoom::held(const ShareOwner& owner) const {
  Held sum;
  const auto add = [&](const ShareOwner& one, std::uint64_t bytes) {
    sum.by_all += bytes;
    if (one == owner) sum.by_owner += bytes;
  };
  for (const auto& [one, bytes] : reserved_) add(one, bytes);
  for (const auto& [inode, copy] : copies_) add(copy.owner, std::max(copy.bytes, kLeast));
  return sum;
}

void CopyRoom::forget_closed() {
  const auto now = std::chrono::steady_clock::now();
  if (looked_at_ != MonotonicTime::min() && now - looked_at_ <= kLookEvery) return;
  looked_at_ = now;
  std::set<Inode> open;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    const std::string name = entry.path().filename();
    int fd = -1;
    (void)std::from_chars(name.data(), name.data() + name.size(), fd);
    // Only memory files have seals. The others are left alone, because stat() on one, such as the
    // root of a process, could wait for the server of a file system.
    if (::fcntl(fd, F_GET_SEALS) >= 0) open.insert(inode_of(fd));
  }
  std::erase_if(copies_, [&](const auto& copy) { return !open.contains(copy.first); });
}

CopyRoom::Inode CopyRoom::inode_of(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return {};
  return {info.st_dev, info.st_ino};
}

void CopyRoom::settle(std::uint64_t reserved, int kept, const Copy& copy) {
  const std::lock_guard lock(mutex_);
  const auto before = reserved_.find(copy.owner);
  before->second -= reserved;
  if (before->second == 0) reserved_.erase(before);
  if (kept >= 0) copies_[inode_of(kept)] = copy;
}

std::optional<OriginalFile> CopyRoom::original_of(int fd) {
  const std::lock_guard lock(mutex_);
  const auto found = copies_.find(inode_of(fd));
  return found == copies_.end() ? std::nullopt : found->second.original;
}

}  // namespace offcpud
