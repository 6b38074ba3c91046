// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "reader/wait_ledger.h"

namespace offcpud {

// The user of this host that started a process: where it is in a user namespace, the one who made
// that, however many users there are in it. Nothing if the process is gone. Takes no lock that the
// process could hold. Needs CAP_SYS_PTRACE for processes of others.
std::optional<Account> account_of(std::uint32_t tgid);

}  // namespace offcpud
