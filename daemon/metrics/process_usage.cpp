// SPDX-License-Identifier: Apache-2.0
#include "metrics/process_usage.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

#include "base/file_io.h"

namespace offcpud {
namespace {

constexpr std::size_t kMaxStat = 4096;
constexpr std::size_t kMaxHostStat = std::size_t{1} << 20;  // one line per CPU and per interrupt

// Fields of /proc/self/stat after the command name, numbered as in proc(5).
constexpr std::size_t kFirstField = 3;
constexpr std::size_t kUserTime = 14;
constexpr std::size_t kSystemTime = 15;
constexpr std::size_t kStartTime = 22;
constexpr std::size_t kVirtualBytes = 23;
constexpr std::size_t kResidentPages = 24;
using StatFields = std::array<std::uint64_t, kResidentPages + 1>;

// Searches from the end, as the command name may contain spaces and parentheses.
Result<StatFields> parse_stat(std::string_view text) {
  StatFields fields{};
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return Error("parse '/proc/self/stat': no command name");
  text.remove_prefix(name_end + 1);
  for (std::size_t i = kFirstField; i < fields.size(); ++i) {
    const std::size_t start = text.find_first_not_of(' ');
    if (start == std::string_view::npos) return Error("parse '/proc/self/stat': too few fields");
    text.remove_prefix(start);
    const std::size_t length = std::min(text.find(' '), text.size());
    // Some fields are not plain numbers; those that we use are.
    (void)std::from_chars(text.data(), text.data() + length, fields[i]);
    text.remove_prefix(length);
  }
  return fields;
}

Result<std::uint64_t> boot_time(std::string_view host_stat) {
  constexpr std::string_view kKey = "\nbtime ";
  const std::size_t at = host_stat.find(kKey);
  std::uint64_t seconds = 0;
  if (at == std::string_view::npos) return Error("parse '/proc/stat': no line 'btime'");
  host_stat.remove_prefix(at + kKey.size());
  const char* end = host_stat.data() + host_stat.size();
  if (std::from_chars(host_stat.data(), end, seconds).ec != std::errc{}) {
    return Error("parse '/proc/stat': 'btime' is not a number");
  }
  return seconds;
}

std::optional<std::uint64_t> count_open_fds(const std::filesystem::path& directory) {
  std::uint64_t entries = 0;
  std::error_code error;
  std::filesystem::directory_iterator it(directory, error);
  for (; !error && it != std::filesystem::directory_iterator(); it.increment(error)) ++entries;
  if (error || entries == 0) return std::nullopt;
  return entries - 1;  // without the descriptor of this directory
}

}  // namespace

Result<ProcessUsage> read_process_usage(const std::filesystem::path& proc) {
  TRY(const std::string self_stat, read_file(proc / "self/stat", kMaxStat));
  TRY(const StatFields fields, parse_stat(self_stat));
  TRY(const std::string host_stat, read_file(proc / "stat", kMaxHostStat));
  TRY(const std::uint64_t booted, boot_time(host_stat));

  const auto ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  ProcessUsage usage;
  usage.cpu_seconds =
      static_cast<double>(fields[kUserTime] + fields[kSystemTime]) / ticks_per_second;
  usage.start_time_seconds =
      static_cast<double>(booted) + static_cast<double>(fields[kStartTime]) / ticks_per_second;
  usage.virtual_bytes = fields[kVirtualBytes];
  usage.resident_bytes =
      fields[kResidentPages] * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  usage.open_fds = count_open_fds(proc / "self/fd");
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return Error::from_errno(errno, "getrlimit", "RLIMIT_NOFILE");
  }
  usage.max_fds = limit.rlim_cur;
  return usage;
}

}  // namespace offcpud
