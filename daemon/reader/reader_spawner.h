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

// What the processes are called (PR_SET_NAME).
inline constexpr const char* kSpawnerName = "offcpud-spawner";
inline constexpr const char* kReaderName = "offcpud-reader";

// A process that does nothing but start readers, and end those that are given up. It is forked
// before there are threads, touches nothing that belongs to others and therefore never hangs; it
// has no descriptor but its socket and the standard ones, and ends with the process that started
// it, whatever becomes of that. Thread-safe.
class ReaderSpawner {
 public:
  // What a reader does, until its socket is closed. It runs in a process of its own.
  using Body = std::function<void(UniqueFd socket, SharedReaderPage page)>;
  // `prepare` runs in the new process first of all. Among the processes of which the file
  // `neighbours` has the numbers, it looks for readers that an earlier one has left behind. To be
  // called while there is one thread.
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

  // Kills it, and does not wait for its end: where the kernel waits for somebody else in its name,
  // that may never come.
  void abandon(pid_t pid);

  // Those that were given up and have not ended, by this daemon or by an earlier one; asks. Beyond
  // kMostHung the rest is left out. Nothing: there was no answer.
  static constexpr std::size_t kMostHung = 64;
  std::optional<std::vector<pid_t>> hung();

  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  ReaderSpawner(pid_t pid, UniqueFd socket) : pid_(pid), socket_(std::move(socket)) {}

  std::mutex mutex_;
  std::uint64_t orders_ = 0;  // given so far
  pid_t pid_;
  UniqueFd socket_;
};

}  // namespace offcpud
