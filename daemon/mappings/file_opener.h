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

// A process's root directory, as identified by stat(), and its user. In processes with the same
// root a path means the same file, except below mounts. The user is part of it because one user's
// files prove nothing about another's.
struct RootId {
  enum class UserIs : std::uint32_t {
    Unknown,
    OfParent,  // of the process that forked this one, as far as known
    Own,       // read from the process itself
  };

  std::uint64_t device = 0;
  std::uint64_t inode = 0;  // 0: not known
  std::uint32_t user = 0;   // effective user, as numbered in our user namespace
  UserIs user_is = UserIs::Unknown;

  [[nodiscard]] bool known() const { return inode != 0; }
  // Ignores the user.
  bool operator==(const RootId& other) const {
    return device == other.device && inode == other.inode;
  }

  // The root of a forked child, which may be gone already.
  [[nodiscard]] RootId inherited() const {
    RootId root = *this;
    if (root.user_is == UserIs::Own) root.user_is = UserIs::OfParent;
    return root;
  }
};

// The file to open: one that a process maps, or mapped a moment ago.
struct FileRequest {
  std::uint32_t tgid = 0;
  std::uint32_t parent_tgid = 0;  // probably has the same root; 0: not known
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string path;
  bool deleted = false;
  BuildId build_id;  // the file must have this build-id ...
  InodeId inode;     // ... or, without a build-id, this inode
  RootId root;       // if known: the path is looked up below this root only
};

// Opens files of processes. An interface, so that tests can replace it.
class FileOpener {
 public:
  virtual ~FileOpener() = default;
  virtual OpenedFile open(const FileRequest& request) = 0;
  // If the process is gone, root and user are unknown.
  virtual RootId root_of(std::uint32_t tgid) = 0;
  // Announces that root_of() will be called for these before the next refresh(), so that one
  // request can answer all.
  virtual void ask_roots(std::span<const std::uint32_t> /*tgids*/) {}
  // Opens the root (O_PATH).
  virtual OpenedFile open_root(std::uint32_t tgid) = 0;
  // The original of a descriptor from open() that is a copy. Nothing: it is the file itself.
  virtual std::optional<OriginalFile> original_of(int /*fd*/) { return std::nullopt; }
  // Call it when mounts may have changed since the last open().
  virtual void refresh() {}
};

// Opens through /proc/PID/map_files, which also has deleted files; else by path, below the roots of
// the process, of its parent and of the daemon, or only below FileRequest::root if that is known.
// Compares what it opened with the request.
//
// Opens regular files only. It inspects a file through O_PATH before opening it, and resolves paths
// only in the kernel's cache of names. Even so, a hostile process can block any call here for ever,
// for instance by holding its mmap_lock; so the daemon uses this class in a process that can be
// killed (daemon/reader). Needs CAP_SYS_PTRACE and CAP_CHECKPOINT_RESTORE for map_files,
// CAP_DAC_READ_SEARCH for files that not everybody may read. Used by one thread.
class ProcFileOpener final : public FileOpener {
 public:
  // `files` must outlive the object.
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
