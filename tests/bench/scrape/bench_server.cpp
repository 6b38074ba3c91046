// SPDX-License-Identifier: Apache-2.0
#include "scrape/bench_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace offcpud {
namespace {

[[noreturn]] void fail(const std::string& sentence) {
  std::fprintf(stderr, "scrape_bench: %s\n", sentence.c_str());
  std::exit(70);
}

}  // namespace

BenchServer::BenchServer(const Serve& serve) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) fail("cannot make a pipe");
  pid_ = ::fork();
  if (pid_ == 0) {
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    serve([&ends](std::uint16_t port) { (void)!::write(ends[1], &port, sizeof(port)); });
    ::_exit(70);
  }
  (void)::close(ends[1]);
  if (::read(ends[0], &port_, sizeof(port_)) != sizeof(port_)) fail("a server did not start");
  (void)::close(ends[0]);
}

BenchServer::~BenchServer() {
  (void)::kill(pid_, SIGKILL);
  (void)::waitpid(pid_, nullptr, 0);
}

std::size_t BenchServer::fetch(const char* path, const char* headers) const {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port_);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    fail("cannot connect");
  }
  const std::string request = "GET " + std::string(path) + " HTTP/1.1\r\nHost: bench\r\n" +
                              headers + "Connection: close\r\n\r\n";
  if (::send(fd, request.data(), request.size(), 0) != static_cast<ssize_t>(request.size())) {
    fail("cannot send");
  }
  std::vector<char> block(std::size_t{256} * 1024);
  std::size_t total = 0;
  for (;;) {
    const ssize_t n = ::read(fd, block.data(), block.size());
    if (n <= 0) break;
    if (total == 0 &&
        !std::string_view(block.data(), static_cast<std::size_t>(n)).starts_with("HTTP/1.1 200")) {
      fail("a server does not answer 200");
    }
    total += static_cast<std::size_t>(n);
  }
  (void)::close(fd);
  return total;
}

std::chrono::nanoseconds BenchServer::cpu_time() const {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &time) != 0) {
    fail("cannot read the time of a server");
  }
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void BenchServer::reset_peak() const {
  std::ofstream("/proc/" + std::to_string(pid_) + "/clear_refs") << "5";
}

long BenchServer::peak_kib() const {
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::strtol(line.c_str() + 6, nullptr, 10);
  }
  fail("cannot read the memory of a server");
}

}  // namespace offcpud
