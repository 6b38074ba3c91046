// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/wait_for.h"
#include "peers/device_names.h"
#include "peers/wait_peer.h"

namespace offcpud {

// Values of `on` that name nobody.
inline constexpr std::string_view kOnUnknown = "(unknown)";  // nobody can tell
inline constexpr std::string_view kOnNobody = "(nobody)";    // it asked to sleep
inline constexpr std::string_view kOnOthers = "(other)";     // those that have no room

// The prefix of a value of `on` that names a device.
inline constexpr std::string_view kOnDevice = "device:";

// "10.0.0.1:5432", "[2001:db8::1]:443"; without the port, if it is 0, "10.0.0.1", "2001:db8::1".
std::string address_text(const PeerAddress& address, std::uint16_t port);

// The process that a wait for `wait_for` waited on; null: it waited on no process.
const PeerProcess* process_in(const WaitPeer& peer, WaitFor wait_for);

// "remote:10.0.0.1:5432", "device:vda", or one of the above. Only where process_in() is null.
std::string on_text(const WaitPeer& peer, WaitFor wait_for, DeviceNames& devices);

}  // namespace offcpud
