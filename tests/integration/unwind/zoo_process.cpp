// SPDX-License-Identifier: Apache-2.0
#include "zoo_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>

namespace offcpud {
namespace {

std::string read_line(int fd) {
  std::string line;
  char byte = 0;
  while (::read(fd, &byte, 1) == 1 && byte != '\n') line += byte;
  return line;
}

}  // namespace

ZooProcess::ZooProcess(const std::string& program, const std::string& kind) {
  int input[2], output[2];
  if (::pipe2(input, O_CLOEXEC) != 0 || ::pipe2(output, O_CLOEXEC) != 0) return;
  input_.reset(input[1]);
  output_.reset(output[0]);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(input[0], STDIN_FILENO);
    ::dup2(output[1], STDOUT_FILENO);
    ::execl(program.c_str(), program.c_str(), kind.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(input[0]);
  ::close(output[1]);
  std::istringstream line(read_line(output_.get()));
  line >> waiter_ >> std::hex;
  for (std::uint64_t address = 0; line >> address;) above_.push_back(address);
}

ZooProcess::~ZooProcess() {
  input_.reset();
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
}

std::map<pid_t, Addresses> eu_stack(pid_t process) {
  std::map<pid_t, Addresses> stacks;
  const std::string command = "eu-stack -p " + std::to_string(process) + " 2>/dev/null";
  const std::unique_ptr<FILE, decltype(&::pclose)> output(::popen(command.c_str(), "re"),
                                                          &::pclose);
  if (!output) return stacks;
  char line[4096];
  for (pid_t thread = 0; std::fgets(line, sizeof line, output.get());) {
    std::istringstream fields(line);  // "TID 17:", then "#0  0x00007f.. name"
    std::string first;
    std::uint64_t address = 0;
    fields >> first;
    if (first == "TID") {
      fields >> thread;
    } else if (first.starts_with('#') && fields >> std::hex >> address) {
      stacks[thread].push_back(address);
    }
  }
  return stacks;
}

}  // namespace offcpud
