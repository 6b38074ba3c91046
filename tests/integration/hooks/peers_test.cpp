// SPDX-License-Identifier: Apache-2.0
// Who is told to be the peer of a wait, by the sockets and the signals that the programs see.
#include <bpf/libbpf.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "hooks.skel.h"
#include "hooks_case.h"
#include "hooks_object.h"
#include "support/peer_records.h"

namespace offcpud {
namespace {

using test::PeerRecord;

constexpr std::uint8_t kListen = 10, kClosed = 7;  // include/net/tcp_states.h
constexpr std::uint32_t kInterruptible = 1, kUninterruptible = 2, kKillable = 0x102;

PeerRecord connection(const char* local, std::uint16_t local_port, const char* remote,
                      std::uint16_t remote_port) {
  return PeerRecord().tcp(local, local_port, remote, remote_port);
}

PeerRecord listener(const char* local, std::uint16_t port) {
  PeerRecord record = connection(local, port, "0.0.0.0", 0);
  record.peer.socket.state = kListen;
  return record;
}

// Without a remote end, a socket that has called connect() for no datagram.
PeerRecord datagrams(const char* local, std::uint16_t local_port, const char* remote = "0.0.0.0",
                     std::uint16_t remote_port = 0) {
  PeerRecord record = connection(local, local_port, remote, remote_port);
  record.peer.socket.protocol = IPPROTO_UDP;
  if (remote_port == 0) record.peer.socket.state = kClosed;
  return record;
}

class PeerHooks : public HooksCase {
 protected:
  // Whether who is in a call for `other` is the peer of a wait for `own`.
  bool are_ends(const PeerRecord& own, const PeerRecord& other) {
    static_assert(sizeof own.peer.socket == sizeof hooks()->bss->own_socket);
    std::memcpy(hooks()->bss->own_socket, &own.peer.socket, sizeof own.peer.socket);
    std::memcpy(hooks()->bss->other_socket, &other.peer.socket, sizeof other.peer.socket);
    const Status status = HooksObject::run(hooks()->progs.run_other_end);
    EXPECT_TRUE(status) << status.error().message();
    return hooks()->bss->result != 0;
  }

  // Whether a signal is what wakes this process if it sleeps in such a state.
  bool is_signalled(pid_t process, std::uint32_t state) {
    hooks()->bss->sleeper = static_cast<std::uint32_t>(process);
    hooks()->bss->sleeper_state = state;
    hooks()->bss->result = 2;
    const Status status = HooksObject::walk(hooks()->progs.run_is_signalled);
    EXPECT_TRUE(status) << status.error().message();
    EXPECT_LT(hooks()->bss->result, 2U) << "the walk has seen the process";
    return hooks()->bss->result == 1;
  }
};

TEST_F(PeerHooks, BothEndsOfAConnectionMeet) {
  const PeerRecord client = connection("127.0.0.1", 40'000, "127.0.0.1", 80);
  const PeerRecord server = connection("127.0.0.1", 80, "127.0.0.1", 40'000);
  EXPECT_TRUE(are_ends(client, server));
  EXPECT_TRUE(are_ends(server, client));
  EXPECT_FALSE(are_ends(client, connection("127.0.0.1", 81, "127.0.0.1", 40'001)));
  EXPECT_FALSE(are_ends(client, datagrams("127.0.0.1", 80, "127.0.0.1", 40'000)));
}

TEST_F(PeerHooks, OneEndIsEnoughWhereAnAddressIsTranslated) {
  const PeerRecord client = connection("10.0.0.1", 40'000, "10.99.0.1", 80);  // a service's address
  EXPECT_TRUE(are_ends(client, connection("10.0.0.2", 8'080, "10.0.0.1", 40'000).in_netns(2)));
  EXPECT_FALSE(are_ends(client, connection("10.0.0.2", 8'080, "10.0.0.1", 40'001).in_netns(2)));
}

TEST_F(PeerHooks, EachNamespaceHasALoopbackOfItsOwn) {
  const PeerRecord client = connection("127.0.0.1", 40'000, "127.0.0.1", 80);
  EXPECT_FALSE(are_ends(client, connection("127.0.0.1", 80, "127.0.0.1", 40'000).in_netns(2)));
}

// A packet of the network card interrupts a server in accept(), while an application of the host
// waits for the same port of another host.
TEST_F(PeerHooks, AListenerIsTheOtherEndOfNothing) {
  const PeerRecord elsewhere = connection("10.0.0.1", 40'000, "203.0.113.7", 443);
  EXPECT_FALSE(are_ends(elsewhere, listener("0.0.0.0", 443)));
  EXPECT_FALSE(are_ends(elsewhere, listener("::", 443)));
  EXPECT_FALSE(are_ends(elsewhere, listener("0.0.0.0", 443).in_netns(2)));
  const PeerRecord here = connection("127.0.0.1", 40'000, "127.0.0.1", 443);
  EXPECT_FALSE(are_ends(here, listener("0.0.0.0", 443)));
  EXPECT_FALSE(are_ends(here, listener("127.0.0.1", 443)));
}

TEST_F(PeerHooks, WhoConnectsToAListenerEndsItsWait) {
  EXPECT_TRUE(are_ends(listener("0.0.0.0", 80), connection("127.0.0.1", 4, "127.0.0.1", 80)));
  EXPECT_TRUE(are_ends(listener("::", 80), connection("10.0.0.1", 4, "10.0.0.1", 80)));
  EXPECT_TRUE(
      are_ends(listener("10.0.0.1", 80), connection("10.0.0.2", 4, "10.0.0.1", 80).in_netns(2)));
  // It connects to another host, and its thread was interrupted by the packet of a third one.
  EXPECT_FALSE(are_ends(listener("0.0.0.0", 80), connection("10.0.0.1", 4, "203.0.113.7", 80)));
  EXPECT_FALSE(
      are_ends(listener("0.0.0.0", 80), connection("127.0.0.1", 4, "127.0.0.1", 80).in_netns(2)));
}

TEST_F(PeerHooks, AServerOfDatagramsHasTheAddressesOfItsNamespaceOnly) {
  const PeerRecord server = datagrams("0.0.0.0", 53);
  const PeerRecord asks_here = datagrams("127.0.0.1", 4'000, "127.0.0.1", 53);
  EXPECT_TRUE(are_ends(asks_here, server));
  EXPECT_TRUE(are_ends(server, asks_here));
  EXPECT_TRUE(are_ends(datagrams("10.0.0.1", 4'000, "10.0.0.1", 53), server));
  EXPECT_FALSE(are_ends(datagrams("127.0.0.1", 4'000, "127.0.0.1", 53).in_netns(2), server));

  const PeerRecord asks_elsewhere = datagrams("10.0.0.1", 4'000, "8.8.8.8", 53);
  EXPECT_FALSE(are_ends(asks_elsewhere, server));
  EXPECT_FALSE(are_ends(server, asks_elsewhere));
  EXPECT_FALSE(are_ends(asks_elsewhere, datagrams("0.0.0.0", 53).in_netns(2)));
  EXPECT_FALSE(are_ends(datagrams("fd00::1", 4'000, "2001:db8::8", 53), datagrams("::", 53)));
  EXPECT_TRUE(are_ends(datagrams("10.0.0.1", 4'000, "10.0.0.2", 53),
                       datagrams("10.0.0.2", 53).in_netns(2)));
}

// A child that does nothing, with a handler for SIGUSR1, and with SIGUSR2 blocked.
class Stopped {
 public:
  Stopped() : pid_(::fork()) {
    if (pid_ == 0) {
      std::signal(SIGUSR1, [](int) {});
      sigset_t blocked;
      sigemptyset(&blocked);
      sigaddset(&blocked, SIGUSR2);
      ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
      std::raise(SIGSTOP);
      for (;;) ::pause();
    }
    int status = 0;
    ::waitpid(pid_, &status, WUNTRACED);
  }
  ~Stopped() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Stopped(const Stopped&) = delete;
  Stopped& operator=(const Stopped&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

// A process that is stopped keeps its signals, so that they can be looked at.
TEST_F(PeerHooks, ASignalWakesAThreadThatDoesNotBlockIt) {
  const Stopped process;
  EXPECT_FALSE(is_signalled(process.pid(), kInterruptible));
  ::kill(process.pid(), SIGUSR2);
  EXPECT_FALSE(is_signalled(process.pid(), kInterruptible)) << "it is blocked";
  ::kill(process.pid(), SIGUSR1);
  EXPECT_TRUE(is_signalled(process.pid(), kInterruptible)) << "to the process";
  EXPECT_FALSE(is_signalled(process.pid(), kUninterruptible));
  EXPECT_FALSE(is_signalled(process.pid(), kKillable));

  const Stopped other;
  ::syscall(SYS_tgkill, other.pid(), other.pid(), SIGUSR2);
  EXPECT_FALSE(is_signalled(other.pid(), kInterruptible));
  ::syscall(SYS_tgkill, other.pid(), other.pid(), SIGUSR1);
  EXPECT_TRUE(is_signalled(other.pid(), kInterruptible)) << "to the thread";
  EXPECT_FALSE(is_signalled(other.pid(), kKillable));
}

}  // namespace
}  // namespace offcpud
