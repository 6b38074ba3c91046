// SPDX-License-Identifier: Apache-2.0
#include "symbols/perf_map_finder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>

namespace offcpud {
namespace {

struct ProcessStatus {
  uid_t effective_uid = 0;
  std::string inner_pid;  // number in the innermost PID namespace
};

// In the line that starts with `key`, the field after `skip` others.
std::string field(std::string_view status, std::string_view key, std::optional<std::size_t> skip) {
  const std::size_t found = status.find("\n" + std::string(key) + ":");
  if (found == std::string_view::npos) return {};
  std::string_view line = status.substr(found + key.size() + 2);
  line = line.substr(0, line.find('\n'));
  std::string last;
  for (std::size_t i = 0; !line.empty(); ++i) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const std::size_t length = std::min(line.find_first_of(" \t"), line.size());
    if (length > 0) last = line.substr(0, length);
    line.remove_prefix(length);
    if (skip && i == *skip) break;
  }
  return last;
}

Result<ProcessStatus> read_status(int process) {
  const UniqueFd fd(::openat(process, "status", O_RDONLY | O_CLOEXEC));
  if (!fd) return Error::from_errno(errno, "open", "status of process");
  std::string buffer(64 << 10, '\0');  // NSpid follows the list of groups, which can be long
  const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
  if (got < 0) return Error::from_errno(errno, "read", "status of process");
  const std::string_view text(buffer.data(), static_cast<std::size_t>(got));

  ProcessStatus status;
  const std::string uid = field(text, "Uid", 1);  // real, effective, saved, file system
  const auto parsed = std::from_chars(uid.data(), uid.data() + uid.size(), status.effective_uid);
  status.inner_pid = field(text, "NSpid", std::nullopt);
  if (parsed.ec != std::errc() || status.inner_pid.empty() ||
      status.inner_pid.find_first_not_of("0123456789") != std::string::npos) {
    return Error("read 'status of process': no Uid or NSpid");
  }
  return status;
}

// Whether the process started at `start_ns`, as precisely as /proc tells: the 22nd field, in ticks.
bool started_at(int process, std::uint64_t start_ns) {
  const UniqueFd fd(::openat(process, "stat", O_RDONLY | O_CLOEXEC));
  std::string buffer(4096, '\0');
  const ssize_t got = fd ? ::read(fd.get(), buffer.data(), buffer.size()) : -1;
  if (got < 0) return false;
  std::string_view text(buffer.data(), static_cast<std::size_t>(got));
  text.remove_prefix(std::min(text.rfind(')'), text.size()));  // names may contain spaces
  constexpr int kFieldsBetween = 20;
  for (int i = 0; i < kFieldsBetween; ++i) {
    text.remove_prefix(std::min(text.find(' '), text.size()));
    text.remove_prefix(std::min<std::size_t>(1, text.size()));
  }
  std::uint64_t ticks = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), ticks).ec != std::errc())
    return false;
  const auto per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return ticks == start_ns / (1'000'000'000 / per_second);
}

}  // namespace

Result<PerfMapPlace> find_perf_map(const std::filesystem::path& proc,
                                   const PerfMapProcess& process) {
  const std::filesystem::path directory = proc / std::to_string(process.tgid);
  const UniqueFd fd(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return Error::from_errno(errno, "open", directory.native());
  if (process.start_ns != 0 && !started_at(fd.get(), process.start_ns)) {
    return Error("open '" + directory.native() + "': another process has the number now");
  }
  TRY(ProcessStatus status, read_status(fd.get()));
  TRY(RootDirectory root, RootDirectory::of_process(fd.get()));
  return PerfMapPlace{std::move(root), "/tmp/perf-" + status.inner_pid + ".map",
                      status.effective_uid};
}

Result<FoundPerfMap> ProcPerfMapFinder::find(const PerfMapProcess& process) {
  TRY(const PerfMapPlace place, find_perf_map(proc_, process));
  FoundPerfMap found;
  TRY(found.file, place.root.open_file(place.path, LastLink::Refuse));
  struct stat info {};
  if (::fstat(found.file.get(), &info) != 0) return Error::from_errno(errno, "stat", place.path);
  if (!S_ISREG(info.st_mode)) return Error("read '" + place.path + "': not a regular file");
  found.version = {info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec, info.st_ino,
                   static_cast<std::uint64_t>(info.st_size)};
  TRY_VOID(check_owner(place, info.st_uid));
  return found;
}

Status check_owner(const PerfMapPlace& place, uid_t owner) {
  if (owner == place.owner) return {};
  return Error("read '" + place.path + "': it belongs to another user than the process");
}

}  // namespace offcpud
