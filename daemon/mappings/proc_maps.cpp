// SPDX-License-Identifier: Apache-2.0
#include "mappings/proc_maps.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

#include "base/unique_handle.h"

namespace offcpud {
namespace {

// Removes a number and the character `behind` after it from the front of `text`.
template <class T>
bool take(std::string_view& text, T& number, int base, char behind) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end == text.data() + text.size() || *end != behind) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return true;
}

// The names in directory `path` that are numbers.
Result<std::vector<std::uint32_t>> numbered_entries(const std::string& path) {
  const UniqueDirectory directory(::opendir(path.c_str()));
  if (!directory) return Error::from_errno(errno, "open", path);
  std::vector<std::uint32_t> numbers;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(directory.get());
    if (entry == nullptr && errno != 0) return Error::from_errno(errno, "read", path);
    if (entry == nullptr) return numbers;
    const std::string_view name(entry->d_name);
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size()) numbers.push_back(number);
  }
}

std::string with_line_feeds(std::string_view path) {
  std::string plain;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const bool escaped = path.substr(i, 4) == "\\012";
    plain += escaped ? '\n' : path[i];
    if (escaped) i += 3;
  }
  return plain;
}

// Collects the executable lines of a process, up to the limits.
class MapsLines {
 public:
  explicit MapsLines(ProcessReader::Process& process) : process_(process) {}

  // Removes the complete lines from the front of `text`.
  void take(std::string& text) {
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      auto line = parse_maps_line(std::string_view(text).substr(begin, end - begin));
      if (line && line->executable && line->path != "[vsyscall]") add(*std::move(line));
    }
    text.erase(0, begin);
  }

 private:
  void add(MapsLine line) {
    text_ += line.path.size();
    const bool fits = process_.maps.size() < ProcessReader::kMostLines &&
                      text_ <= ProcessReader::kMostText && process_.left_out == 0;
    if (fits) {
      process_.maps.push_back(std::move(line));
    } else {
      ++process_.left_out;
    }
  }

  ProcessReader::Process& process_;
  std::size_t text_ = 0;
};

// Finds none if the process is gone, a zombie or a kernel thread.
Status read_executable_maps(const std::string& directory, ProcessReader::Process& process) {
  const std::string path = directory + "/maps";
  MapsLines lines(process);
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd && (errno == ENOENT || errno == ESRCH)) return {};
  if (!fd) return Error::from_errno(errno, "open", path);
  std::string text;
  std::array<char, 65536> buffer{};  // a file of 100,000 lines is never held whole
  for (;;) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno != ESRCH) return Error::from_errno(errno, "read", path);
    if (got <= 0) return {};
    text.append(buffer.data(), static_cast<std::size_t>(got));
    lines.take(text);
  }
}

}  // namespace

std::optional<MapsLine> parse_maps_line(std::string_view line) {
  MapsLine map;
  std::string_view rest = line;
  if (!take(rest, map.begin, 16, '-') || !take(rest, map.end, 16, ' ')) return std::nullopt;
  if (map.begin >= map.end || rest.size() < 5 || rest[4] != ' ') return std::nullopt;
  map.executable = rest[2] == 'x';
  rest.remove_prefix(5);
  if (!take(rest, map.offset, 16, ' ') || !take(rest, map.inode.device_major, 16, ':') ||
      !take(rest, map.inode.device_minor, 16, ' ') || !take(rest, map.inode.inode, 10, ' ')) {
    return std::nullopt;
  }
  const std::size_t path = rest.find_first_not_of(' ');
  if (path != std::string_view::npos) map.path = with_line_feeds(rest.substr(path));
  return map;
}

Result<std::vector<std::uint32_t>> ProcProcessReader::processes() {
  return numbered_entries("/proc");
}

Result<std::optional<ProcessReader::Process>> ProcProcessReader::read(std::uint32_t tgid) {
  const std::string directory = "/proc/" + std::to_string(tgid);
  Process process;
  TRY_VOID(read_executable_maps(directory, process));
  auto threads = numbered_entries(directory + "/task");
  if (!threads) return std::optional<Process>();
  process.threads = std::move(*threads);
  if (process.maps.empty() && process.threads.size() > 1) {
    // The first thread ended before the others; the process continues without it.
    std::erase(process.threads, tgid);
    const std::string first = std::to_string(process.threads.front());
    TRY_VOID(read_executable_maps(directory + "/task/" + first, process));
  }
  if (process.maps.empty()) return std::optional<Process>();
  return std::optional(std::move(process));
}

}  // namespace offcpud
