// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/result.h"
#include "config/config.h"
#include "http/http_server.h"
#include "http/listener.h"

namespace offcpud {

// The socket on which the daemon answers: the service manager's (offcpud.socket), or `listen`.
Result<Listener> find_listener(const Config& config);

// The socket of web.local_socket, which the daemon serves besides `main`. If it cannot be opened,
// this logs a warning and returns nothing: measuring matters more than this socket.
std::optional<Listener> find_local_listener(const Config& config, const Listener& main);

// Limits of the local socket, where each user is a peer. Slow answers share their limits with those
// of `listen`.
inline const HttpLimits kLocalLimits{
    .threads = 1,
    .connections = {.total = 64, .per_peer = 16, .slow_responses = 8},
    .waiting = 16,
};

}  // namespace offcpud
