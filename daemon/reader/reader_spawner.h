// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/unique_handle.h"
#include "reader/reader_page.h"

namespace offcpud {

// The names of the processes (PR_SET_NAME).
inline constexpr const char* kSpawnerName = "offcpud-spawner";
inline constexpr const char* kReaderName = "offcpud-reader";

// A process that only starts readers and kills those that are given up. It is forked before the
// daemon has threads and accesses nothing of other processes, so it never hangs. It has no
// descriptors but its socket and the standard ones, and ends with its parent, however that ends.
// Thread-safe.
class ReaderSpawner {
 public:
  // The main function of a reader, which runs in a process of its own until its socket is closed.
  using Body = std::function<void(UniqueFd socket, SharedReaderPage page)>;
  // Call it while the process has only one thread. `prepare` runs first in the new process. The
  // spawner then looks for readers left by an earlier run among the processes listed in the file
  // `neighbours`.
  static Result<std::unique_ptr<ReaderSpawner>> start(const Body& body,
                                                      const std::function<void()>& prepare = {},
                                                      const std::filesystem::path& neighbours = {});
  ~ReaderSpawner();
  ReaderSpawner(const ReaderSpawner&) = delete;
  ReaderSpawner& operator=(const ReaderSpawner&) = delete;

  struct Reader {
    pid_t pid = 0;
    UniqueFd socket;
    SharedReaderPage page;
  };
  Result<Reader> spawn();

  // Kills a reader without waiting for its end, which may never come while the kernel waits on the
  // reader's behalf.
  void abandon(pid_t pid);

  // Asks for the readers that were given up, by this daemon or an earlier one, and have not ended;
  // at most kMostHung. Nothing: there was no answer.
  static constexpr std::size_t kMostHung = 64;
  std::optional<std::vector<pid_t>> hung();

  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  ReaderSpawner(pid_t pid, UniqueFd socket) : pid_(pid), socket_(std::move(socket)) {}

  std::mutex mutex_;
  std::uint64_t orders_ = 0;  // number of the last order
  pid_t pid_;
  UniqueFd socket_;
};

}  // namespace offcpud
