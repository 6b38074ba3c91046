// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/result.h"
#include "base/unique_handle.h"

namespace offcpud {

// The listening stream socket passed by the service manager (sd_listen_fds(3)); nullopt: there is
// none. Call it once. Error: there are several, or it is another kind of socket.
Result<std::optional<UniqueFd>> activated_socket();

}  // namespace offcpud
