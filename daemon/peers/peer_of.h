// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "peers/wait_peer.h"
#include "sample.h"

namespace offcpud {

// Whom a sampled block waited on, as far as its own record tells (bpf/peer.h). Never a guess: a
// process is named only if it holds the other end of the socket or pipe, or if the wait was for no
// file and the process itself ended it; an address only if it cannot be one of this network
// namespace.
WaitPeer peer_of(const offcpud_sample& sample, const offcpud_peer& peer);

// The process of a record.
PeerProcess process_of(const offcpud_peer& peer);

// Whether the other end of the socket is in the same network namespace, by its address alone: a
// connection to an address of the same host has that address at both ends, unless the program bound
// another one.
bool is_local(const offcpud_socket& socket);

bool is_loopback(const PeerAddress& address);
bool is_inet(const offcpud_socket& socket);
PeerAddress local_address(const offcpud_socket& socket);
PeerAddress remote_address(const offcpud_socket& socket);

}  // namespace offcpud
