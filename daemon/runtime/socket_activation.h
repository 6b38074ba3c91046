// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/result.h"
#include "base/unique_handle.h"

namespace offcpud {

// The listening stream socket that the service manager passed (sd_listen_fds(3)); nullopt: none.
// To be called once. An error: several, or another kind of socket.
Result<std::optional<UniqueFd>> activated_socket();

}  // namespace offcpud
