// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace offcpud {

// The function of a goroutine's stack by which people know the wait: the innermost one that is not
// of Go's standard library, such as "main.pay" that called sync.(*Mutex).Lock. If all are of that
// library, it is the innermost one outside of the runtime and of what only leads into it, such as
// internal/poll. `functions`: innermost first. Empty: there is none.
std::string_view waiting_function(std::span<const std::string_view> functions);

// Whether a function is of Go's standard library: "net/http.(*conn).serve".
bool is_of_go_library(std::string_view function);

}  // namespace offcpud
