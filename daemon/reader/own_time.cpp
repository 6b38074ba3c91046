// SPDX-License-Identifier: Apache-2.0
#include "reader/own_time.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <string>
#include <string_view>

#include "base/file_io.h"

namespace offcpud {
namespace {

// The time waiting for a CPU is read from a file only for longer measurements.
constexpr std::chrono::milliseconds kShort{5};

}  // namespace

OwnTime::OwnTime() : schedstat_(::open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC)) {}

void OwnTime::begin() {
  begun_ = std::chrono::steady_clock::now();
  cpu_begun_ = cpu();
  delayed_begun_ = delayed();
}

std::chrono::nanoseconds OwnTime::blocked() const {
  const auto passed = std::chrono::steady_clock::now() - begun_;
  if (passed < kShort) return std::chrono::nanoseconds(0);
  const auto waited = passed - (cpu() - cpu_begun_) - (delayed() - delayed_begun_);
  return std::max<std::chrono::nanoseconds>(waited, std::chrono::nanoseconds(0));
}

std::chrono::nanoseconds OwnTime::cpu() {
  timespec time{};
  (void)::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);  // only fails for unknown clocks
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// The file's format is "ran waited slices": nanoseconds, nanoseconds, a count.
std::chrono::nanoseconds OwnTime::delayed() const {
  std::array<char, 96> text{};
  const ssize_t got = schedstat_ ? ::pread(schedstat_.get(), text.data(), text.size(), 0) : -1;
  if (got <= 0) return std::chrono::nanoseconds(0);
  std::string_view rest(text.data(), static_cast<std::size_t>(got));
  rest.remove_prefix(std::min(rest.find(' ') + 1, rest.size()));
  std::int64_t waited = 0;
  (void)std::from_chars(rest.data(), rest.data() + rest.size(), waited);
  return std::chrono::nanoseconds(waited);
}

bool is_runnable(pid_t pid) {
  const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat", 4096);
  if (!stat) return false;
  const std::size_t name_end = stat->rfind(')');
  return name_end != std::string::npos && stat->substr(name_end).starts_with(") R");
}

}  // namespace offcpud
