// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>

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

  static constexpr std::uint64_t kAllBytes = std::numeric_limits<std::uint64_t>::max();

  static constexpr std::uint64_t kMostCopied = std::uint64_t{48} << 20;  // of one file

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

  // Where the next file goes that has to be copied: a file in memory that may hold `bytes`.
  void set_copy_room(UniqueFd memory, std::uint64_t bytes) {
    memory_ = std::move(memory);
    room_ = bytes;
  }

  // A descriptor that may be handed out: that of `opening`, or, where the file does not answer by
  // itself, none: then its last bytes (`last_bytes` at most) are in the room for a copy, from its
  // beginning on. Refused where that has not as many as OpenedFile::copied says, TooLarge beyond
  // kMostCopied.
  OpenedFile hand_out(Opening opening, std::uint64_t last_bytes = kAllBytes);

  // What the file at this path would be, by the mounts that the process sees.
  MountTable::Answer of_path(const std::string& process, const std::string& path);

  // Mounts may have changed.
  void refresh() { mounts_.clear(); }

 private:
  [[nodiscard]] bool answers_by_itself(int handle, const struct statx& info,
                                       const std::string& process) const;
  const MountTable& mounts_of(const std::string& process);

  Touch touch_;
  UniqueFd memory_;
  std::uint64_t room_ = 0;
  std::map<std::string, MountTable, std::less<>> mounts_;  // by name in /proc
};

}  // namespace offcpud
