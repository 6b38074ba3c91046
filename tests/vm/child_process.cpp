// SPDX-License-Identifier: Apache-2.0
#include "child_process.h"

#include <sys/wait.h>

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "base/file_io.h"

namespace offcpud::test {

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

void sleep_for(std::chrono::milliseconds time) {
  const timespec rest{0, std::chrono::nanoseconds(time).count()};
  ::nanosleep(&rest, nullptr);
}

void reap(pid_t child) {
  int status = 0;
  must(::waitpid(child, &status, 0) == child, "waitpid");
  if (status != 0) give_up(text("a child ended with status %d", status));
}

std::uint64_t status_number(pid_t process, const char* field) {
  const auto status = read_file(text("/proc/%d/status", process), 65536);
  if (!status) give_up(status.error().message());
  const auto at = status->find(std::string("\n") + field + ":");
  if (at == std::string::npos) give_up(text("no '%s' in /proc/PID/status", field));
  return std::strtoull(status->c_str() + at + std::strlen(field) + 2, nullptr, 10);
}

bool is_asleep(pid_t process) {
  const auto status = read_file(text("/proc/%d/status", process), 65536);
  return status && status->find("\nState:\tS") != std::string::npos;
}

}  // namespace offcpud::test
