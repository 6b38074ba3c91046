// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "peer.h"

namespace offcpud {

// An IPv6 address, or an IPv4 one as ::ffff:a.b.c.d, in network byte order.
using PeerAddress = std::array<std::uint32_t, 4>;

// A process that others wait for. Its tgid and start identify it; without them it is any process of
// the cgroup, or none if there is no cgroup either.
struct PeerProcess {
  std::uint32_t tgid = 0;        // in the initial PID namespace
  std::uint32_t local_tgid = 0;  // in the daemon's; 0: not there
  std::uint64_t start_ns = 0;    // CLOCK_BOOTTIME
  std::uint64_t cgroup_id = 0;
  std::array<char, OFFCPUD_COMM> comm{};  // of its first thread, NUL-terminated

  [[nodiscard]] bool exists() const { return tgid != 0 || cgroup_id != 0; }
  [[nodiscard]] bool same_as(const PeerProcess& other) const {
    return tgid == other.tgid && start_ns == other.start_ns && cgroup_id == other.cgroup_id;
  }
};

// Whom or what one block waited on. A value type.
struct WaitPeer {
  enum class Kind : std::uint8_t {
    Unknown,
    Process,
    Remote,  // the address of a socket's other end, which is on no host that is known
    Device,  // counts if the wait was for storage; if not, `process` does, or nobody is known
    Others,  // several, which are not told apart
  };
  Kind kind = Kind::Unknown;
  PeerProcess process{};     // of Process, and perhaps of Device
  PeerAddress address{};     // of Remote
  std::uint16_t port = 0;    // of Remote; 0: any, because the other end connected
  std::uint32_t device = 0;  // of Device: a dev_t of the kernel
  // The thread of the process that ended the wait, in the initial PID namespace; 0: unknown.
  std::uint32_t tid = 0;

  // Ignores the name of the process, which may change, and which of its threads it was.
  [[nodiscard]] bool same_as(const WaitPeer& other) const {
    return kind == other.kind && process.same_as(other.process) && address == other.address &&
           port == other.port && device == other.device;
  }
};

}  // namespace offcpud
