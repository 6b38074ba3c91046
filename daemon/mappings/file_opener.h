// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/unique_handle.h"
#include "elf/build_id.h"
#include "mappings/inode_id.h"
#include "mappings/local_files.h"

namespace offcpud {

// A process's root directory, as stat() names it, and its user. Where two processes have the same
// root, a path means the same file for both, but for what is mounted below. The user is there
// because one user's files say nothing of another's.
struct RootId {
  enum class UserIs : std::uint32_t {
    Unknown,
    OfParent,  // of the process that this one was forked from, as far as is known
    Own,       // asked of the process itself
  };

  std::uint64_t device = 0;
  std::uint64_t inode = 0;  // 0: not known
  std::uint32_t user = 0;   // the effective one, by its number in our user namespace
  UserIs user_is = UserIs::Unknown;

  [[nodiscard]] bool known() const { return inode != 0; }
  // Ignores the user.
  bool operator==(const RootId& other) const {
    return device == other.device && inode == other.inode;
  }

  // The root of a forked child, which may be gone since.
  [[nodiscard]] RootId inherited() const {
    RootId root = *this;
    if (root.user_is == UserIs::Own) root.user_is = UserIs::OfParent;
    return root;
  }
};

// Which file is wanted: the one that a process maps, or mapped a moment ago.
struct FileRequest {
  std::uint32_t tgid = 0;
  std::uint32_t parent_tgid = 0;  // whose root the process most probably shared; 0: not known
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string path;
  bool deleted = false;
  BuildId build_id;  // what the file must be ...
  InodeId inode;     // ... where there is no build-id
  RootId root;       // known: where its path leads to below this root, and no copy elsewhere
};

// Seam for tests.
class FileOpener {
 public:
  virtual ~FileOpener() = default;
  virtual OpenedFile open(const FileRequest& request) = 0;
  // If the process is gone, root and user are not known.
  virtual RootId root_of(std::uint32_t tgid) = 0;
  // root_of() will be called for these, before the next refresh(): they can be asked for together.
  virtual void ask_roots(std::span<const std::uint32_t> /*tgids*/) {}
  // Opens the root (O_PATH).
  virtual OpenedFile open_root(std::uint32_t tgid) = 0;
  // What a descriptor that open() returned is a copy of; nothing if it is the file itself.
  virtual std::optional<OriginalFile> original_of(int /*fd*/) { return std::nullopt; }
  // Called when mounts may have changed since the last open().
  virtual void refresh() {}
};

// Opens through /proc/PID/map_files, which has deleted files too; else by the path in the root of
// the process, of its parent, and our own, or only in FileRequest::root if set. Compares what it
// opened with the request.
// Opens nothing but regular files: what it finds is looked at first (O_PATH), and paths are
// followed in the kernel's cache of names only. All the same a hostile process can make any call
// here wait for ever, as it may hold its mmap_lock: the daemon uses it in a process that can be
// given up (daemon/reader). Needs CAP_SYS_PTRACE and CAP_CHECKPOINT_RESTORE for map_files,
// CAP_DAC_READ_SEARCH for files that not everybody may read. Used by one thread.
class ProcFileOpener final : public FileOpener {
 public:
  // `files` must outlive it.
  explicit ProcFileOpener(LocalFiles& files) : files_(files) {}
  OpenedFile open(const FileRequest& request) override;
  RootId root_of(std::uint32_t tgid) override;  // 5 us
  OpenedFile open_root(std::uint32_t tgid) override;
  void refresh() override { files_.refresh(); }

 private:
  OpenedFile open_mapped(const FileRequest& request);
  OpenedFile open_path(const FileRequest& request, const std::string& process);
  OpenedFile examine(UniqueFd handle, const FileRequest& request, const std::string& process);

  LocalFiles& files_;
};

}  // namespace offcpud
