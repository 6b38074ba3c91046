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

// Opens files so that reading them cannot wait for others. Files of file systems that are known to
// need no server and no other process are opened as they are. Files of all other file systems are
// copied to memory, if these answer at once. The calls themselves may hang: see daemon/reader. Used
// by one thread.
class LocalFiles {
 public:
  // Called before a file system is accessed, with the number of the mount (as in
  // /proc/PID/mountinfo); false: it is not accessed. The device would not identify it: a file of
  // overlayfs may have the device of the disk below, which others use.
  using Touch = std::function<bool(std::uint64_t mount)>;

  static constexpr std::uint64_t kAllBytes = std::numeric_limits<std::uint64_t>::max();

  static constexpr std::uint64_t kMostCopied = std::uint64_t{48} << 20;  // of one file

  explicit LocalFiles(Touch touch = {}) : touch_(std::move(touch)) {}

  struct Opening {
    OpenedFile::Outcome outcome = OpenedFile::Outcome::Failed;
    UniqueFd fd;         // if Opened
    bool local = false;  // if Opened: this descriptor may be handed out
    struct statx info {};
  };

  // Opens a regular file for reading. `handle` is an O_PATH descriptor; `process` names the
  // directory in /proc of a process that sees the file.
  Opening open(UniqueFd handle, const std::string& process);

  // The memory for the next copy: a file in memory (memfd) with room for `bytes`.
  void set_copy_room(UniqueFd memory, std::uint64_t bytes) {
    memory_ = std::move(memory);
    room_ = bytes;
  }

  // Makes a result that may be handed out. If the file answers by itself, that is the descriptor of
  // `opening`. Otherwise the file's last bytes (`last_bytes` at most) are copied to the start of
  // the copy room, and there is no descriptor. Refused: the room is too small, and
  // OpenedFile::copied says what is needed. TooLarge: more than kMostCopied.
  OpenedFile hand_out(Opening opening, std::uint64_t last_bytes = kAllBytes);

  // What the mounts that the process sees say about a file at this path.
  MountTable::Answer of_path(const std::string& process, const std::string& path);

  // Call it when mounts may have changed.
  void refresh() { mounts_.clear(); }

 private:
  [[nodiscard]] bool answers_by_itself(int handle, const struct statx& info,
                                       const std::string& process) const;
  const MountTable& mounts_of(const std::string& process);

  Touch touch_;
  UniqueFd memory_;
  std::uint64_t room_ = 0;
  std::map<std::string, MountTable, std::less<>> mounts_;  // by name of the process in /proc
};

}  // namespace offcpud
