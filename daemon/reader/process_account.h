// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "reader/wait_ledger.h"

namespace offcpud {

// The user of this host who started a process. For a process in a user namespace it is the user who
// made the namespace, however many users there are inside. Nothing: the process is gone. Takes no
// lock that the process could hold. Needs CAP_SYS_PTRACE for other users' processes.
std::optional<Account> account_of(std::uint32_t tgid);

}  // namespace offcpud
