// SPDX-License-Identifier: Apache-2.0
#include "peers/peer_text.h"

#include <arpa/inet.h>

#include <array>
#include <cstring>

namespace offcpud {

std::string address_text(const PeerAddress& address, std::uint16_t port) {
  const bool is_v4 = address[0] == 0 && address[1] == 0 && address[2] == htonl(0xffff);
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (is_v4) {
    ::inet_ntop(AF_INET, &address[3], text.data(), text.size());
  } else {
    ::inet_ntop(AF_INET6, address.data(), text.data(), text.size());
  }
  if (port == 0) return text.data();
  const std::string host = is_v4 ? text.data() : "[" + std::string(text.data()) + "]";
  return host + ":" + std::to_string(port);
}

const PeerProcess* process_in(const WaitPeer& peer, WaitFor wait_for) {
  if (wait_for == WaitFor::Timer || !peer.process.exists()) return nullptr;
  const bool is_process = peer.kind == WaitPeer::Kind::Process ||
                          (peer.kind == WaitPeer::Kind::Device && wait_for != WaitFor::Storage);
  return is_process ? &peer.process : nullptr;
}

std::string on_text(const WaitPeer& peer, WaitFor wait_for, DeviceNames& devices) {
  if (wait_for == WaitFor::Timer) return std::string(kOnNobody);
  switch (peer.kind) {
    case WaitPeer::Kind::Remote:
      return "remote:" + address_text(peer.address, peer.port);
    case WaitPeer::Kind::Device:
      if (wait_for != WaitFor::Storage) break;
      return std::string(kOnDevice) + devices.of(peer.device);
    case WaitPeer::Kind::Others:
      return std::string(kOnOthers);
    case WaitPeer::Kind::Unknown:
    case WaitPeer::Kind::Process:
      break;
  }
  return std::string(kOnUnknown);
}

}  // namespace offcpud
