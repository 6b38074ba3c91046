// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace offcpud {

// The name of a system call: "futex" for 202 on x86_64. `compat`: the number is of the 32-bit
// table. Empty when this build of libseccomp does not know the call. Any thread.
std::string syscall_name(std::uint32_t number, bool compat);

}  // namespace offcpud
