// SPDX-License-Identifier: Apache-2.0
// Two processes hand a token back and forth `count` times, over a pair of pipes, a socket pair, a
// pair of eventfds or UDP over the loopback device, on one CPU or two, each in a cgroup of its own
// if asked. Truth: no side can go on before the other has written, so each blocks about `count`
// times, for microseconds.
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "workload.h"

using namespace workload;

namespace {

struct Ends {
  int read[2], write[2];  // by member
};

// Two UDP sockets, each connected to the other.
Ends open_udp() {
  int sockets[2];
  sockaddr_in addresses[2] = {};
  for (int i = 0; i < 2; ++i) {
    sockets[i] = ::socket(AF_INET, SOCK_DGRAM, 0);
    addresses[i].sin_family = AF_INET;
    addresses[i].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* address = reinterpret_cast<sockaddr*>(&addresses[i]);
    socklen_t length = sizeof addresses[i];
    if (::bind(sockets[i], address, length) != 0) fail("bind");
    ::getsockname(sockets[i], address, &length);
  }
  for (int i = 0; i < 2; ++i) {
    const auto* other = reinterpret_cast<const sockaddr*>(&addresses[1 - i]);
    if (::connect(sockets[i], other, sizeof addresses[0]) != 0) fail("connect");
  }
  return {{sockets[0], sockets[1]}, {sockets[0], sockets[1]}};
}

Ends open_ends(const std::string& kind) {
  int ab[2], ba[2];
  if (kind == "pipe") {
    if (::pipe(ab) != 0 || ::pipe(ba) != 0) fail("pipe");
    return {{ba[0], ab[0]}, {ab[1], ba[1]}};
  }
  if (kind == "socket") {
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ab) != 0) fail("socketpair");
    return {{ab[0], ab[1]}, {ab[0], ab[1]}};
  }
  if (kind == "eventfd") {
    const int a = ::eventfd(0, 0), b = ::eventfd(0, 0);
    return {{a, b}, {b, a}};
  }
  if (kind == "udp") return open_udp();
  fail("unknown kind " + kind);
}

void play(const Ends& ends, int member, int count, Waits& waits) {
  std::uint64_t token = 1;
  for (int i = 0; i < count; ++i) {
    if (member == 0 && ::write(ends.write[0], &token, sizeof token) < 0) fail("write");
    if (timed(waits, [&] { return ::read(ends.read[member], &token, sizeof token); }) < 0) {
      fail("read");
    }
    if (member == 1 && ::write(ends.write[1], &token, sizeof token) < 0) fail("write");
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int count = options.number("count", 20'000);
  const int cpus[2] = {options.number("cpu0", 0), options.number("cpu1", 0)};
  const std::string cgroups[2] = {options.text("cgroup0", ""), options.text("cgroup1", "")};
  const Ends ends = open_ends(options.text("kind", "pipe"));
  options.done();

  struct Shared {
    Waits waits[2];
  };
  auto& state = shared<Shared>();
  Crew sides(
      Crew::Of::Processes, 2, [&](int member) { play(ends, member, count, state.waits[member]); },
      [&](int member) {
        enter_cgroup(cgroups[member]);
        pin(cpus[member]);
      });
  first_gate();
  sides.go();
  sides.finished();

  Report report;
  report.add("first", state.waits[0]);
  report.add("second", state.waits[1]);
  report.second_gate();
}
