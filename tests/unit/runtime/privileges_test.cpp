// SPDX-License-Identifier: Apache-2.0
// What a process gives up it cannot take back, so each case runs in a child of its own.
#include "runtime/privileges.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

namespace offcpud {
namespace {

using testing::HasSubstr;
using testing::Not;

bool is_root() {
  return ::geteuid() == 0;
}

// Runs `body` in a forked child and returns the text it gave.
std::string in_child(const std::function<std::string()>& body) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return "pipe failed";
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string text = body();
    const auto written = ::write(ends[1], text.data(), text.size());
    ::_exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  ::close(ends[1]);
  std::array<char, 4096> buffer{};
  const auto length = ::read(ends[0], buffer.data(), buffer.size());
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return std::string(buffer.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
}

void keep_only(std::uint64_t capabilities) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> sets{};
  sets[0].effective = sets[0].permitted = static_cast<std::uint32_t>(capabilities);
  sets[1].effective = sets[1].permitted = static_cast<std::uint32_t>(capabilities >> 32U);
  ::syscall(SYS_capset, &header, sets.data());
}

std::string required() {
  const Status status = require_capabilities();
  if (status) return "granted";
  return (status.error().kind() == ErrorKind::Permission ? "" : "wrong kind: ") +
         status.error().message();
}

std::uint64_t bit(unsigned capability) {
  return std::uint64_t{1} << capability;
}

// "CapInh 0 CapPrm 0 …" of this process, as the kernel shows it.
std::string capability_lines() {
  std::ifstream file("/proc/self/status");
  std::ostringstream lines;
  for (std::string name; file >> name;) {
    std::uint64_t value = 0;
    if (name.starts_with("Cap") && file >> std::hex >> value) {
      lines << name << std::hex << value << " ";
    }
  }
  return lines.str();
}

TEST(RequireCapabilities, NamesEachOneThatIsMissingAndTheRemedy) {
  const std::string text = in_child([] {
    keep_only(0);
    return required();
  });
  EXPECT_THAT(text, HasSubstr("CAP_BPF and CAP_PERFMON"));
  EXPECT_THAT(text, HasSubstr("systemctl start offcpud"));
  EXPECT_THAT(text, HasSubstr("sudo"));
}

TEST(RequireCapabilities, DoesNotNameWhatIsThere) {
  if (!is_root()) GTEST_SKIP() << "needs root";
  const std::string text = in_child([] {
    keep_only(bit(CAP_BPF));
    return required();
  });
  EXPECT_THAT(text, HasSubstr("needs CAP_PERFMON,"));
  EXPECT_THAT(text, Not(HasSubstr("CAP_BPF")));
}

TEST(RequireCapabilities, TakesExactlyTheTwo) {
  if (!is_root()) GTEST_SKIP() << "needs root";
  EXPECT_EQ(in_child([] {
              keep_only(bit(CAP_BPF) | bit(CAP_PERFMON));
              return required();
            }),
            "granted");
}

TEST(RequireCapabilities, TakesSysAdminInTheirPlace) {
  if (!is_root()) GTEST_SKIP() << "needs root";
  EXPECT_EQ(in_child([] {
              keep_only(bit(CAP_SYS_ADMIN));
              return required();
            }),
            "granted");
}

TEST(DropCapabilities, LeavesExactlyWhatIsKept) {
  if (!is_root()) GTEST_SKIP() << "needs root";
  EXPECT_EQ(in_child([] {
              const std::array keep{Capability::Bpf};
              const Status status = drop_capabilities(keep);
              return status ? capability_lines() : status.error().message();
            }),
            "CapInh:0 CapPrm:8000000000 CapEff:8000000000 CapBnd:8000000000 CapAmb:0 ");
}

TEST(DropCapabilities, WorksWithoutTheRightToShrinkTheBoundingSet) {
  if (!is_root()) GTEST_SKIP() << "needs root";
  EXPECT_THAT(in_child([] {
                keep_only(bit(CAP_BPF) | bit(CAP_PERFMON));
                const Status status = drop_capabilities({});
                return status ? capability_lines() : status.error().message();
              }),
              HasSubstr("CapInh:0 CapPrm:0 CapEff:0 "));
}

TEST(DropCapabilities, KeepingWhatIsNotThereGrantsNothing) {
  EXPECT_THAT(in_child([] {
                keep_only(0);
                const std::array keep{Capability::Bpf};
                const Status status = drop_capabilities(keep);
                return status ? capability_lines() : status.error().message();
              }),
              HasSubstr("CapPrm:0 CapEff:0 "));
}

}  // namespace
}  // namespace offcpud
