// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/result.h"
#include "config/config.h"
#include "http/http_server.h"
#include "http/listener.h"

namespace offcpud {

// Where the daemon is asked: the socket of the service manager (offcpud.socket), or `listen`.
Result<Listener> find_listener(const Config& config);

// web.local_socket, besides `main`. Nothing, and a warning, if it cannot be had: who measures needs
// it less than who looks.
std::optional<Listener> find_local_listener(const Config& config, const Listener& main);

// Of the local socket, where each user is a peer. Answers that take long share their own limits
// with those of `listen`.
inline const HttpLimits kLocalLimits{
    .threads = 1,
    .connections = {.total = 64, .per_peer = 16, .slow_responses = 8},
    .waiting = 16,
};

}  // namespace offcpud
