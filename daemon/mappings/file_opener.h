// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/unique_handle.h"
#include "mappings/build_id.h"
#include "mappings/mount_table.h"

namespace offcpud {

// The directory that a process has as its root, as stat() names it. Where two processes have the
// same one, a path means the same file for both, but for what is mounted below.
struct RootId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;  // 0: not known

  [[nodiscard]] bool known() const { return inode != 0; }
  bool operator==(const RootId&) const = default;
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

struct OpenedFile {
  enum class Outcome : std::uint8_t {
    Opened,
    Gone,      // the process is gone, and no file at the path is that one
    Denied,    // a capability or a permission is missing
    NotAFile,  // a device, a pipe
    Remote,    // on a file system that somebody else answers for; or on one of an unknown type
    Failed,    // no descriptors left, an I/O error
  };

  Outcome outcome = Outcome::Gone;
  UniqueFd fd;       // open for reading if Opened
  BuildId build_id;  // of that file, if it has one
};

// Seam for tests.
class FileOpener {
 public:
  virtual ~FileOpener() = default;
  virtual OpenedFile open(const FileRequest& request) = 0;
  // Not known if the process is gone.
  virtual RootId root_of(std::uint32_t tgid) = 0;
  // Called when mounts may have changed since the last open().
  virtual void refresh() {}
};

// Opens through /proc/PID/map_files, which works for deleted files too, else by the path in the
// root of the process, of its parent, and in our own, of which FileRequest::root may allow one
// only. What is opened is compared with the request.
// Never waits for a server or another process, and opens nothing but regular files: what it finds
// is looked at first (O_PATH), and paths are followed in the kernel's cache of names only.
// Needs CAP_SYS_PTRACE and CAP_CHECKPOINT_RESTORE for map_files, CAP_DAC_READ_SEARCH for files that
// not everybody may read. Used by one thread.
class ProcFileOpener final : public FileOpener {
 public:
  ProcFileOpener();
  OpenedFile open(const FileRequest& request) override;
  RootId root_of(std::uint32_t tgid) override;  // 3 us
  void refresh() override { mounts_.clear(); }

 private:
  OpenedFile open_mapped(const FileRequest& request);
  OpenedFile open_path(const FileRequest& request, const std::string& process);
  OpenedFile examine(UniqueFd handle, const FileRequest& request, const std::string& process);
  MountTable::Answer mount_type(std::uint64_t mount_id, const std::string& process);
  const MountTable& mounts_of(const std::string& process);

  std::map<std::string, MountTable, std::less<>> mounts_;  // by name in /proc
  std::uint64_t memory_device_ = 0;  // of the kernel's own mount of memfd_create()
};

}  // namespace offcpud
