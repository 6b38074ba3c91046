// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/unique_handle.h"
#include "mappings/mount_table.h"
#include "mappings/opened_file.h"

namespace offcpud {

// Decides which files may be read by those who must not wait: files of file systems that are known
// to answer by themselves, and copies in memory of others that answer at once. Whatever is not
// known is not trusted. The calls themselves may hang: see daemon/reader. Used by one thread.
class LocalFiles {
 public:
  // Called before a file system is asked for anything, with the number of the mount (as in
  // /proc/PID/mountinfo); false: it is not asked. Devices would not do: a file of overlayfs may
  // have that of the disk below, which others use.
  using Touch = std::function<bool(std::uint64_t mount)>;

  explicit LocalFiles(Touch touch = {}) : touch_(std::move(touch)) {}

  struct Opening {
    OpenedFile::Outcome outcome = OpenedFile::Outcome::Failed;
    UniqueFd fd;         // if Opened
    bool local = false;  // if Opened: the descriptor itself may be handed out
    struct statx info {};
  };

  // `handle` is an O_PATH descriptor, `process` the directory in /proc of a process that sees the
  // file, by name. Opens regular files for reading.
  Opening open(UniqueFd handle, const std::string& process);

  // A descriptor that may be handed out: that of `opening`, or one of a copy.
  OpenedFile hand_out(Opening opening);

  // What the file at this path would be, by the mounts that the process sees.
  MountTable::Answer of_path(const std::string& process, const std::string& path);

  // Mounts may have changed.
  void refresh() { mounts_.clear(); }

  // What all copies from now on may take together, until it is set again.
  void set_copy_room(std::uint64_t bytes) { copy_room_ = bytes; }

 private:
  [[nodiscard]] bool answers_by_itself(int handle, const struct statx& info,
                                       const std::string& process) const;
  const MountTable& mounts_of(const std::string& process);

  Touch touch_;
  std::uint64_t copy_room_ = std::uint64_t{64} << 20;
  std::map<std::string, MountTable, std::less<>> mounts_;  // by name in /proc
};

}  // namespace offcpud
