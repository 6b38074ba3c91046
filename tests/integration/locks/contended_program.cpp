// SPDX-License-Identifier: Apache-2.0
#include "integration/locks/contended_program.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace offcpud::test {
namespace {

// The last number of NSpid is the one in the thread's own namespace (proc_pid_status(5)).
std::uint32_t inner_tid(const std::filesystem::path& task) {
  std::ifstream status(task / "status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("NSpid:")) continue;
    std::istringstream numbers(line.substr(6));
    std::uint32_t last = 0;
    for (std::uint32_t number = 0; numbers >> number;) last = number;
    return last;
  }
  return 0;
}

}  // namespace

ContendedProgram::ContendedProgram(const Options& options) : file_("/dev/shm/offcpud-word-XXXXXX") {
  const int file = ::mkstemp(file_.data());
  if (file < 0 || ::ftruncate(file, sizeof(workload::LockedWord)) != 0) {
    throw std::runtime_error("cannot make " + file_);
  }
  void* const memory =
      ::mmap(nullptr, sizeof(workload::LockedWord), PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) throw std::runtime_error("cannot map " + file_);
  word_ = static_cast<workload::LockedWord*>(memory);

  std::vector<std::string> words = {OFFCPUD_CONTENDED,
                                    "--kind",
                                    options.kind,
                                    "--word",
                                    file_,
                                    "--operations",
                                    std::to_string(options.operations),
                                    "--hold_us",
                                    std::to_string(options.hold_us),
                                    "--hold_each",
                                    std::to_string(options.hold_each)};
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  // As fork(2), and its number is one of this namespace.
  const long flags = SIGCHLD | (options.in_namespace ? CLONE_NEWPID : 0);
  pid_ = static_cast<pid_t>(::syscall(SYS_clone, flags, 0, 0, 0, 0));
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  if (pid_ < 0) throw std::runtime_error("cannot start the workload");
  is_there_ = true;
}

ContendedProgram::~ContendedProgram() {
  if (is_there_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::munmap(word_, sizeof(workload::LockedWord));
  ::unlink(file_.c_str());
}

std::optional<int> ContendedProgram::ended() {
  int status = 0;
  if (is_there_ && ::waitpid(pid_, &status, WNOHANG) == 0) return std::nullopt;
  is_there_ = false;
  return status;
}

std::uint32_t ContendedProgram::outer_tid(std::uint32_t inner) const {
  std::error_code error;
  const std::filesystem::path tasks = "/proc/" + std::to_string(pid_) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks, error)) {
    if (inner_tid(task.path()) != inner) continue;
    return static_cast<std::uint32_t>(std::stoul(task.path().filename().string()));
  }
  return 0;
}

}  // namespace offcpud::test
