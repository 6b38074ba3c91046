// SPDX-License-Identifier: Apache-2.0
#include "reader/leftover_readers.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_io.h"
#include "reader/reader_spawner.h"

namespace offcpud {
namespace {

constexpr std::size_t kMostText = std::size_t{4} << 20;

struct ProcessStat {
  std::string name;
  pid_t parent = 0;
};

// Parses "PID (NAME) STATE PARENT ...". NAME may contain anything.
std::optional<ProcessStat> read_stat(const std::filesystem::path& proc, pid_t pid) {
  const auto text = read_file(proc / std::to_string(pid) / "stat", 4096);
  if (!text) return std::nullopt;
  const std::size_t begin = text->find('(');
  const std::size_t end = text->rfind(')');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return std::nullopt;
  ProcessStat stat;
  stat.name = text->substr(begin + 1, end - begin - 1);
  constexpr std::size_t kToParent = 4;  // ") S "
  const std::string_view rest =
      std::string_view(*text).substr(std::min(end + kToParent, text->size()));
  (void)std::from_chars(rest.data(), rest.data() + rest.size(), stat.parent);
  return stat;
}

// Readers of a running daemon, this one or another, are children of its spawner.
bool is_left_over(const std::filesystem::path& proc, pid_t pid) {
  const auto stat = read_stat(proc, pid);
  if (!stat || stat->name != kReaderName) return false;
  const auto parent = read_stat(proc, stat->parent);
  return !parent || parent->name != kSpawnerName;
}

}  // namespace

LeftoverReaders LeftoverReaders::find(const std::filesystem::path& neighbours,
                                      const std::filesystem::path& proc) {
  LeftoverReaders found;
  const auto processes = read_file(neighbours, kMostText);
  if (!processes) return found;
  std::string_view rest(*processes);
  while (!rest.empty()) {
    pid_t pid = 0;
    (void)std::from_chars(rest.data(), rest.data() + rest.size(), pid);
    rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
    if (pid <= 0 || !is_left_over(proc, pid)) continue;
    UniqueFd handle(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    // Check again: until the handle was open, the number could pass to another process.
    if (!handle || !is_left_over(proc, pid)) continue;
    const auto sent = ::syscall(SYS_pidfd_send_signal, handle.get(), SIGKILL, nullptr, 0);
    if (sent != 0 && errno == EPERM) continue;  // another user's process of the same name
    found.readers_.push_back({pid, std::move(handle)});
  }
  return found;
}

std::vector<pid_t> LeftoverReaders::remaining() {
  std::erase_if(readers_, [](const Leftover& reader) {
    pollfd ended{.fd = reader.handle.get(), .events = POLLIN, .revents = 0};
    return ::poll(&ended, 1, 0) > 0;
  });
  std::vector<pid_t> pids;
  for (const Leftover& reader : readers_) pids.push_back(reader.pid);
  return pids;
}

}  // namespace offcpud
